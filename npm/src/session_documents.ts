/** Documents about agent sessions that continue unattended, and about the hooks of agent hosts. */

import type { Decision, RunRecord } from "./documents.js";

/** What a prompt starts. */
export interface Started {
  workflow: string;
  issue_no: number | null;
  pr_no: number | null;
}

/** A workflow of the user's own. */
export interface OwnWorkflow {
  /** What a prompt begins with: `/` and a word. */
  command: string;
  /** Its name in session files. */
  name: string;
}

/** The text of a session's file. Its id is the file's name and not in it. */
export type SessionRecord = string;

export type SessionEnding = "done" | "error" | "stopped";

/** What is known when an agent wants to stop. */
export interface SessionStop {
  /** As the configuration says. */
  max_continuations: number;
  /** How often the host lets a hook continue an agent: without a tool call in between, or ever. */
  host_cap?: { in_a_row: number } | { total: number } | null;
  /** What the agent said last. */
  message?: string | null;
  /** Whether it used a tool since its last prompt; null: unknown. */
  tools?: boolean | null;
  /** The error of the model's service. */
  api_error?: string | null;
  /** The end of the host's transcript, and whether that is all of it; supplies what is unknown. */
  transcript?: { tail: string; whole: boolean } | null;
  /** The session's file, as the agent is told it. */
  file: string;
  /** How a person opens the session again, for the prompt. */
  resume: string;
  /** The cached plan of the issue. */
  plan?: { path: string; text: string } | null;
  /** Replaces the text that comes with the workflow. */
  template?: string | null;
  /** The run that the conversation of the session drives: its record decides how it continues. */
  run?: RunRecord | null;
}

/** What should happen when an agent wants to stop. */
export type SessionAnswer = { session: SessionRecord } & (
  | { said: "nothing" }
  /** Continue the agent with this prompt. */
  | { said: "go-on"; prompt: string; number: number; maximum: number }
  /** Let it stop, and tell the person why. */
  | { said: "over"; reason: string }
  /** Let it stop: only the person can continue the run. */
  | { said: "tell"; message: string }
);

/** A session as `onloop session show --json` prints it. */
export interface SessionView {
  session_id: string;
  status: "open" | "paused" | "done" | "completed" | "error" | "failed" | "stopped";
  file: string;
  workflow: string;
  state: string;
  continuation_count: number;
  issue_no?: number;
  pr_no?: number;
  pr_number?: number;
  run_id?: string;
  /** The revision of its run when it was last continued. */
  run_revision?: number;
  /** When a run began of which its id is not known yet. */
  begins_run_at?: string;
  paused?: boolean;
  /** Why it is paused: by a question, by a person who said so, or because nothing happened. */
  paused_by?: "question" | "person" | "silence";
  reason?: string;
  /** Continuations since the agent last used a tool, and since its work last moved on. */
  in_a_row?: number;
  stalled?: number;
  /** The stop that was counted last, and how often it was told again. */
  stop_place?: string;
  stop_echoes?: number;
  /** Digests of what the agent and the person said last, and the host's number of the prompt. */
  last_message?: string;
  last_prompt?: string;
  prompt_id?: string;
  /** A limit of the model's service: until when it is said to last, and since when it is known. */
  limited_until?: string;
  limited_since?: string;
  /** What the agent has not been told yet. */
  untold?: string[];
  updated_at?: string;
}

/** What a configuration says. The bot's token is not a part of it. */
export interface SessionConfig {
  /** Whether hooks have an opinion at all. */
  enabled: boolean;
  max_continuations: number;
  /** Whether a model is asked about calls that no rule decides. */
  auto_permission: boolean;
  debug: boolean;
  supervisor: {
    provider: "none" | "claude" | "codex" | "cursor" | "opencode";
    model: string | null;
    flags: string[];
  };
  telegram: {
    chat_id: number;
    timeout_ms: number;
    poll_interval_ms: number;
    allowed_user_ids: number[];
  } | null;
  workflows: (OwnWorkflow & { prompt_file: string })[];
  /** What cannot be used in it, one line each, with line and column. */
  notes: string[];
}

/** A program that runs agents and calls hooks. */
export type AgentHost = "claude" | "codex" | "cursor" | "vscode" | "opencode" | "cline" | "copilot";

/** What an agent host says to a hook, in one form for all hosts. */
export type HookEvent = {
  /** The host's name for the session, unchecked. */
  session: string | null;
  cwd: string | null;
  /** The file with the conversation. */
  transcript: string | null;
} & (
  | { event: "prompt"; text: string; id: string | null; typed: boolean }
  | { event: "tool-call" | "permission-request"; tool: string; input: unknown }
  | { event: "tool-done"; tool: string; input: unknown; output: string }
  | { event: "stop"; message: string | null; broken_off: boolean }
  | { event: "compacted" }
  | { event: "other" }
);

/**
 * What a hook says: about a call, to an agent that wants to stop, to the person, to the agent of a
 * conversation that was compacted, or nothing.
 */
export type HookAnswer =
  | { decision: Decision | "defer"; reason?: string }
  | { go_on: string }
  | { tell: string }
  | { remind: string }
  | Record<string, never>;
