/** Documents about hands-off sessions and hooks of clients. */

import type { Decision, RunRecord } from "./documents.js";

/** The workflow that a prompt starts. */
export interface Started {
  workflow: string;
  issue_no: number | null;
  pr_no: number | null;
}

/** A workflow from the user's configuration. */
export interface OwnWorkflow {
  /** The command at the beginning of a prompt: `/` and a word. */
  command: string;
  /** Its name in session files. */
  name: string;
}

/** The text of a session's file. Its id is the file's name and not in it. */
export type SessionRecord = string;

export type SessionEnding = "done" | "error" | "stopped";

/** The facts about an agent that wants to stop. */
export interface SessionStop {
  /** The limit of the configuration. */
  max_continuations: number;
  /** How often the client lets a hook continue an agent: without a tool call in between, or at all. */
  host_cap?: { in_a_row: number } | { total: number } | null;
  /** The last message of the agent. */
  message?: string | null;
  /** Whether it used a tool since its last prompt; null: unknown. */
  tools?: boolean | null;
  /** The error of the model's service. */
  api_error?: string | null;
  /** The end of the client's transcript, and whether it is complete. It supplies missing facts. */
  transcript?: { tail: string; whole: boolean } | null;
  /** The path of the session's file, for the prompt. */
  file: string;
  /** The command that opens the session again, for the prompt. */
  resume: string;
  /** The cached plan of the issue. */
  plan?: { path: string; text: string } | null;
  /** Replaces the continuation prompt of the workflow. */
  template?: string | null;
  /** The run that the session's conversation drives. Its record decides how the session continues. */
  run?: RunRecord | null;
}

/** The answer to an agent that wants to stop. */
export type SessionAnswer = { session: SessionRecord } & (
  | { said: "nothing" }
  /** Continue the agent with this prompt. */
  | { said: "continue"; prompt: string; number: number; maximum: number }
  /** Let it stop, and tell the person why. */
  | { said: "over"; reason: string }
  /** Let it stop: only the person can continue the run. */
  | { said: "message"; message: string }
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
  /** The start of a run whose id is not known yet. */
  begins_run_at?: string;
  /** Why it is paused: by a question, by a person, or by inactivity. */
  paused_by?: "question" | "person" | "silence";
  reason?: string;
  /** Continuations since the last tool call of the agent, and since its last progress. */
  in_a_row?: number;
  stalled?: number;
  /** The last counted stop, and how often the client repeated it. */
  stop?: { place: string; echoes: number };
  /** Digests of the last messages of agent and person, and the client's number of the prompt. */
  last_message?: string;
  last_prompt?: string;
  prompt_id?: string;
  /** A rate limit of the provider: its announced end, and when it was first seen. */
  limited_until?: string;
  limited_since?: string;
  /** Background tasks: since when the agent waits for some, and those that had their time. */
  tasks_since?: string;
  tasks?: string[];
  /** Messages that the agent has not received yet. */
  pending_notifications?: string[];
  updated_at?: string;
}

/** A configuration, without the bot's token. */
export interface SessionConfig {
  /** Whether hooks decide calls. */
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
  /** The problems in it, one line each, with line and column. */
  notes: string[];
}

/** A client. */
export type AgentHost = "claude" | "codex" | "cursor" | "vscode" | "opencode" | "cline" | "copilot";

/** The input of a hook, in one form for all clients. */
export type HookEvent = {
  /** The client's id of the session, not validated. */
  session: string | null;
  cwd: string | null;
  /** The transcript. */
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
 * The answer of a hook: a decision about a call, a continuation, a message to the person, context for
 * the agent of a compacted conversation, or nothing.
 */
export type HookAnswer =
  | { decision: Decision | "defer"; reason?: string }
  | { continue: string }
  | { system_message: string }
  | { additional_context: string }
  | Record<string, never>;
