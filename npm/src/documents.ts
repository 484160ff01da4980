/** The documents that go into the core and come out of it. */

import type { Mechanism, Network } from "./vocabulary.js";

/** The record of a run as its file has it. Opaque: kept and passed on as it is. */
export type RunRecord = string;

/**
 * A part of a text. Offsets count UTF-16 units from 0, as JavaScript strings do; lines and columns
 * count from 1, columns in UTF-16 units as well.
 */
export interface Span {
  start: number;
  end: number;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
}

/** One finding in a workflow file, and where it is. */
export interface Diagnostic extends Span {
  /** Stable name of the rule. */
  code: string;
  severity: "error" | "warning";
  message: string;
  help: string | null;
  /** A change that fixes it and nothing else. */
  fix: Fix | null;
}

export interface Fix {
  title: string;
  /** In ascending order, without overlap, against the text that was linted. */
  edits: Edit[];
}

/** Replaces what is between two offsets of a text, counted in UTF-16 units. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Where the parts of a workflow file are. */
export interface Outline {
  /** The lines between the two `---`. */
  frontmatter: Span | null;
  steps: {
    /** Its number in a run, from 1. */
    number: number;
    name: string;
    /** Its title, or its whole header where it has none. */
    title: Span;
    /** From its header to what ends it. */
    span: Span;
  }[];
}

/** A field of the format. */
export interface Field {
  /** The frontmatter, a step, a check below `verify`, or what is below `assert`. */
  section: "frontmatter" | "step" | "check" | "assert";
  name: string;
  about: string;
  /** The default; empty where it needs no explanation. */
  default: string;
  /** Allowed values or prefixes of values; empty: any string. */
  values: string[];
  /** The check types that have it; empty: all of its section. */
  types: string[];
}

/** How a run begins. */
export interface Beginning {
  /** Left out: `<slug>-<time>`, as the command line would name it. */
  id?: string;
  at_ms: number;
  auto_approve?: boolean;
  /** Whether machine checks are repeated before completion; they are unless this is false. */
  reverify?: boolean;
  review_agent?: string;
  place?: {
    workflow_path?: string;
    source_workflow_path?: string;
    source_branch?: string;
    source_head?: string;
    branch?: string;
    repo_root?: string;
    execution_root?: string;
    worktree_path?: string;
    executor_mode?: string;
    report_path?: string;
  };
}

/** The result of evaluating one check. */
export interface CheckResult {
  /** Which of the step's checks, from 0. */
  check: number;
  verdict: "passed" | "failed" | "needs_human" | "cannot_evaluate";
  reason?: string;
  stdout: string;
  stderr: string;
}

/** What a review agent says. */
export type ReviewVerdict = "READY" | "READY WITH WARNINGS" | "NOT READY" | "NO VERDICT";

/** Something that happened to a run. */
export type RunEvent =
  | { event: "step_started"; step: number }
  | { event: "step_acted"; step: number }
  | { event: "action_failed"; step: number; reason: string; output: string }
  | { event: "step_verified"; step: number; results: CheckResult[] }
  | { event: "step_blocked"; step: number; reason: string }
  | { event: "step_redone"; step: number; reason: string }
  | { event: "step_reopened"; step: number; reason: string }
  | { event: "gate_decided"; step: number; decision: GateDecision; mode: GateMode }
  | {
      event: "review_finished";
      /** The step whose gate waits; null: the final review. */
      step: number | null;
      verdict: ReviewVerdict;
      findings: string;
      base: string | null;
    }
  | { event: "checks_repeated"; repeated: number; failures: [number, CheckResult][] }
  | { event: "run_paused"; reason: string }
  | { event: "run_abandoned"; reason: string }
  | { event: "verdict_accepted" }
  | { event: "run_resumed" }
  | { event: "run_finalized" };

export type GateDecision = "approved" | "rejected";
export type GateMode = "auto" | "human";

/** What should happen to a run now. `action` says which members there are. */
export type Next = {
  run_id: string;
  status: RunStatus;
} & NextAction;

/** Each action with the event that reports it, and what there is to know. */
export type NextAction =
  /** `step_started`; attempts count from 1. */
  | { action: "start"; step: number; attempt: number }
  /** `step_acted` or `action_failed`. */
  | { action: "act"; step: number }
  /** `step_verified`. */
  | { action: "verify"; step: number }
  /** `gate_decided` with mode auto. */
  | { action: "approve"; step: number }
  /** `step_blocked` with that reason. */
  | { action: "block"; step: number; reason: string }
  /** `review_finished`; a step of null is the final review. */
  | { action: "review"; step: number | null }
  /** A person decides the gate: `gate_decided` with mode human. */
  | { action: "ask-gate"; step: number }
  /** A person looks at the step's result: `gate_decided` with mode human. */
  | { action: "ask-review"; step: number; prompt: string }
  /** A person accepts the findings of a review, `verdict_accepted`, or has them mended. */
  | { action: "ask-verdict"; step: number | null }
  /** A person says whether what was begun is done again. */
  | { action: "ask-interrupted"; step: number }
  /** A person raises a limit of the run, with `onloop resume`, or leaves it. */
  | { action: "ask-budget"; step: number }
  /** `checks_repeated`. */
  | { action: "repeat-checks" }
  /** `run_finalized`. */
  | { action: "finalize" }
  /** A person has to change something, and then `run_resumed`. */
  | { action: "blocked"; step: number; reason: string; rejected: boolean }
  | { action: "finished" };

export type RunStatus =
  | "running"
  | "paused"
  | "blocked"
  | "ready_to_finish"
  | "completed"
  | "abandoned";

/** What agents used; `null` is not known. The input includes what was cached. */
export interface UsageView {
  input_tokens: number | null;
  cached_input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  /** The day of the user's prices by which a part of the cost was estimated, where it was. */
  cost_estimated_as_of?: string;
}

/** The summary of a run. */
export interface RunView {
  run_id: string;
  status: RunStatus;
  workflow_path: string;
  source_workflow_path: string | null;
  source_branch: string | null;
  source_head: string | null;
  workflow_slug: string;
  intent: string;
  branch: string | null;
  repo_root: string | null;
  execution_root: string;
  worktree_path: string | null;
  executor_mode: string;
  driver: string | null;
  host: string | null;
  /** RFC 3339, as every time here. */
  started_at: string;
  last_update: string;
  completed_at: string | null;
  total_steps: number;
  completed_steps: number;
  failed_steps: number;
  blocked_steps: number;
  report_path: string;
  /** What became of the work. */
  finish: FinishView;
  steps: {
    number: number;
    name: string;
    status: StepStatus;
    attempts: number;
    verify_passed: boolean | null;
    gate_result: GateDecision | null;
    gate_mode: GateMode | null;
    block_reason: string | null;
    /** What a person may want to know about checks that passed. */
    warnings: WarningView[];
    /** The agent whose stream told of the step last, and its conversation. */
    agent: string | null;
    session: string | null;
    /** Calls that were refused. */
    denied: number;
    usage: UsageView;
    /** Its checks, and what came of the last verification. `onloop status RUN --json` alone has it. */
    checks?: CheckView[];
  }[];
  /** What all agents used. */
  usage: UsageView;
  /** The least that ever held each worker of each step; empty where nothing is known. */
  confined: HoldView[];
  /** The last review. */
  review: { step: number | null; verdict: ReviewVerdict; findings: string } | null;
  /** What is asked of a person; left out: nothing. `onloop status RUN --json` alone has it. */
  asks?: AsksView;
}

export type StepStatus = "pending" | "in_progress" | "done" | "failed" | "blocked";

/** What became of the work of a run; all of it is null as long as nothing has. */
export interface FinishView {
  disposition: "keep" | "merge" | "publish" | "discard" | null;
  recorded_at: string | null;
  target_branch: string | null;
  remote: string | null;
  pr_url: string | null;
  branch_action: string | null;
  worktree_action: string | null;
  artifacts_preserved_at: string | null;
  notes: string | null;
}

/** A check and what came of it. */
export interface CheckView {
  /** What is checked, on one line. */
  what: string;
  /** `waits`: a person is asked; `open`: it was not evaluated. */
  result: "passed" | "failed" | "waits" | "open";
  /** Why it failed, or what the person is asked. */
  reason: string | null;
  /** Milliseconds, where known. */
  took_ms: number | null;
  warnings: string[];
}

/** What a run asks of a person, and what there is to know before they answer. */
export interface AsksView {
  /** The step that it is about; null: the run as a whole. */
  step: number | null;
  question: string;
  /** Whether it is answered with a decision about the step's gate or review. */
  is_gate: boolean;
  /** Where the risk is high: the name of the step, which a person types to approve it. */
  type_name: string | null;
  /** What a terminal of 80 columns shows before it asks, and its parts. */
  facts: FactsView | null;
  /** Names the record as it was looked at, for `onloop gate --seen`. */
  seen: string;
}

/** What a person may want to know before they decide at a gate. */
export interface FactsView {
  /** All of it, as a terminal of 80 columns shows it. */
  text: string;
  /** What the step was to do. */
  action: string;
  risk: "low" | "medium" | "high";
  checks: CheckView[];
  /** Warnings about checks of earlier steps. */
  earlier: string[];
  /** How many lines of which file changed. */
  changes: string;
  /** The step since which they are counted; null: since the beginning. */
  since_step: number | null;
  /** Why nobody knows what changed. */
  changes_unknown: string | null;
  review: { verdict: ReviewVerdict; findings: string } | null;
}

/** A check as a person looks at it. */
export interface CheckView {
  what: string;
  /** `waits`: for a person; `open`: it was not evaluated. */
  result: "passed" | "failed" | "waits" | "open";
  /** Why it failed, or what the person is asked. */
  reason: string | null;
  took_ms: number | null;
  warnings: string[];
}

/** What kept the processes of a worker from touching more than they should. */
export interface HoldView {
  worker: "agent" | "check" | "review" | "setup";
  step: number;
  /** The means; left out: nothing did. */
  by?: Mechanism;
  network?: Network;
  /** Why nothing did. */
  why?: string;
}

/** Something to warn about the result of a check. */
export interface WarningView {
  kind: "check_changed" | "check_unseen";
  /** Which check of the step, from 1. */
  check: number;
  /** All of it, for people. */
  text: string;
  /** The file, relative to the top folder of the checkout. */
  path?: string;
  /** The steps in which it changed. */
  steps?: number[];
  added?: number;
  removed?: number;
  /** Why nothing is known. */
  reason?: string;
}

/** What the record of a run proves: `hotl.receipt/v1`. */
export interface Receipt {
  schema: "hotl.receipt/v1";
  run: {
    run_id: string;
    workflow_path: string;
    workflow_slug: string;
    plan_digest: string;
    status: RunStatus;
    revision: number;
    branch: string | null;
    source_head: string | null;
    started_at: string;
    completed_at: string | null;
  };
  implementation: { driver: string | null; host: string | null };
  evidence: {
    number: number;
    status: StepStatus;
    attempts: number;
    verification: {
      required: boolean;
      type: "shell" | "browser" | "human-review" | "artifact" | "multi" | null;
      /** What was looked at, in the words of the plan. */
      reference: string | null;
      passed: boolean | null;
    };
    gate: {
      required: boolean;
      required_mode: GateMode | null;
      configured: "human" | "auto" | null;
      result: GateDecision | null;
      mode: GateMode | null;
    };
    block_reason: string | null;
    warnings: WarningView[];
  }[];
  checks_repeated_at_end: boolean;
  finish: FinishView;
  sufficiency: { sufficient: boolean; reasons: string[] };
  redaction: { contains_output: false; contains_prompts: false };
}

/** A tool call and its circumstances, as a line of `onloop permit batch` has them. */
export interface ToolCall {
  /** The tool's name, exactly as the host announces it. */
  tool: string;
  /** Its input, whatever it is. */
  input?: unknown;
  /** Absolute folder that the call is made in. */
  cwd: string;
  /** Another folder below which hands-off sessions keep their state. */
  home?: string | null;
  /** The session, when it runs a workflow. */
  session?: { id: string; workflow?: string } | null;
  /** The branch that is checked out; left out or null: in no repository, or on none. */
  git_branch?: string | null;
  /** Judge as if the call ran in a sandbox: what stays inside is allowed. */
  confined?: boolean;
  /** Contents of the configuration files. */
  config?: {
    /** `.agentize.yaml` of the project. */
    project?: string;
    /** Whether the developer trusts exactly this content; its allow rules count only then. */
    project_trusted?: boolean;
    /** `.agentize.local.yaml` of the developer. */
    local?: string;
  } | null;
}

export type Decision = "allow" | "ask" | "deny";

/** What may happen to a tool call. */
export interface Ruling {
  decision: Decision;
  /** The rule that decided. */
  rule: string;
  /** The reason, for people: one line. */
  reason: string;
}

/** A ruling with everything that it is based on. */
export interface Explanation extends Ruling {
  commands: {
    name: string;
    /** What is unknown is shown as `…`. */
    words: string[];
    about: string;
    class: string | null;
    /** The table that knows the program, and the manuals that it follows. */
    table: string;
    source: string;
    /** Whether a sandbox would hold what it does. */
    held: boolean;
    /** What would change the decision. */
    to_change_it: string | null;
    depth: number;
    decision: Decision;
    rule: string | null;
    reason: string | null;
  }[];
  /** What is wrong with the rules of project or developer. */
  notes: string[];
}

/** One row of the task table in `.ai/PROGRESS.md`. */
export interface Task {
  id: string;
  title: string;
  /** `pending`, `in-progress`, `completed`, `blocked`, or an unknown word. */
  status: string;
}

export type TaskStatus = "pending" | "in-progress" | "completed" | "blocked";

/** What a progress file says about its tasks. */
export interface Progress {
  /** In the order of the file, duplicates included. */
  rows: Task[];
  /** No row at all, no row that needs work, or at least one that does. */
  tasks: "none" | "settled" | "active";
  /** The first that is in progress, else pending, else blocked. */
  next: Task | null;
  /** Every task is completed. */
  finished: boolean;
}

/** What a feature file declares. */
export interface Feature {
  status: string | null;
  /** Whether it asks for a plan. */
  ready: boolean;
}

export type Profile = "v1" | "v2" | "v3" | "route";

/** What rw-auto looks at before it decides. */
export interface RouteFacts {
  /** `.ai/CONTEXT.md` can be read. */
  context: boolean;
  /** As `readProgress` says; null: no progress file. */
  tasks: "none" | "settled" | "active" | null;
  /** A feature asks for a plan. */
  ready_feature: boolean;
  /** The files of the plan are complete. */
  artifacts: boolean;
  /** The argument says what to build. */
  summary: boolean;
}

/** Where a workspace leads. */
export interface Route {
  /** Who gets the work; null when it is done or undecided. */
  child: "rw-planner" | "rw-loop" | null;
  /** The token that says so, where there is one. */
  marker: string | null;
  reason: string;
}

/** What a rehearsed file is: its content, or why it cannot be read. */
export type RehearsedFile =
  | string
  | { content: string; mtime?: string }
  | { unreadable: string; mtime?: string };

/** A simulated run of rw-auto. */
export interface Scenario {
  id?: unknown;
  profile?: Profile;
  /** Time at the start, RFC 3339. */
  now: string;
  argument?: string | null;
  env?: { run_subagent: boolean };
  tree?: Record<string, RehearsedFile>;
  /** What the health check finds, and what it finds after its repair. */
  health?: string | string[];
  health_patch?: Record<string, RehearsedFile | null>;
  /** The results of the children, in order. */
  children?: {
    result?: unknown;
    error?: "threw" | "timeout" | "cancelled" | "unavailable";
    tree_patch?: Record<string, RehearsedFile | null>;
    takes_s?: number;
  }[];
}

/** What a simulated run has printed and done. */
export interface Rehearsal {
  id: unknown;
  /** The token stream. */
  lines: string[];
  dispatches: { target: string; argument: string }[];
  lock_present: boolean;
}

/** The last line of `onloop auto begin` and `onloop auto resume`. */
export type AutoLine =
  | { dispatch: { target: string; argument: string; result_file: string } }
  | { stop: { exit: number; next_command: string } };

/** The result of a command line. */
export interface Captured {
  exit: number;
  /** What it printed for programs. */
  result: string;
  /** What it told people. */
  notes: string;
}
