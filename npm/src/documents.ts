/** Arguments and results of the core. */

import type { Mechanism, Network } from "./vocabulary.js";

export type * from "./auto_documents.js";

/** The record of a run, in the form of its file. Opaque: store it and pass it on unchanged. */
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

/** A finding in a workflow file, and its place. */
export interface Diagnostic extends Span {
  /** Stable name of the rule. */
  code: string;
  severity: "error" | "warning";
  message: string;
  help: string | null;
  /** A change that resolves only this finding. */
  fix: Fix | null;
}

export interface Fix {
  title: string;
  /** Edits of the linted text, in ascending order and without overlap. */
  edits: Edit[];
}

/** Replaces the text between two offsets, in UTF-16 units. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** The places of the parts of a workflow file. */
export interface Outline {
  /** The lines between the two `---`. */
  frontmatter: Span | null;
  steps: {
    /** Its number in a run, from 1. */
    number: number;
    name: string;
    /** Its title, or its whole header where it has none. */
    title: Span;
    /** The whole step, from its header on. */
    span: Span;
  }[];
}

/** A field of the format. */
export interface Field {
  /** The frontmatter, a step, a check below `verify`, or the object below `assert`. */
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

/** The start of a run. */
export interface Beginning {
  /** Default: `<slug>-<time>`, as on the command line. */
  id?: string;
  at_ms: number;
  auto_approve?: boolean;
  /** Whether checks are repeated before completion. Default: true. */
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
  /** The index of the check in its step, from 0. */
  check: number;
  verdict: "passed" | "failed" | "needs_human" | "cannot_evaluate";
  reason?: string;
  stdout: string;
  stderr: string;
}

/** The verdict of a review agent. */
export type ReviewVerdict = "READY" | "READY WITH WARNINGS" | "NOT READY" | "NO VERDICT" | "NOT REVIEWED";

/** An event of a run. */
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
  | { event: "run_paused"; reason: string; interrupted?: boolean }
  | { event: "run_abandoned"; reason: string }
  | { event: "verdict_accepted" }
  | { event: "run_resumed" }
  | { event: "run_finalized" };

export type GateDecision = "approved" | "rejected";
export type GateMode = "auto" | "human";

/** The next action of a run. `action` determines the other members. */
export type Next = {
  run_id: string;
  status: RunStatus;
} & NextAction;

/** Each action with its event and members. */
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
  /** A person reviews the step: `gate_decided` with mode human. */
  | { action: "ask-review"; step: number; prompt: string }
  /** A person accepts the findings of a review, `verdict_accepted`, or asks for fixes. */
  | { action: "ask-verdict"; step: number | null }
  /** A person decides whether the interrupted step runs again. */
  | { action: "ask-interrupted"; step: number }
  /** A person may raise a limit of the run with `onloop resume`. */
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

/** The usage of agents; `null` if unknown. The input includes cached tokens. */
export interface UsageView {
  input_tokens: number | null;
  cached_input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
  /** The date of the user's prices, if a part of the cost was estimated. */
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
  /** The smallest of `current_steps`; null if the run is over. */
  current_step: number | null;
  /** Every step that is worked on, or the next one; empty if the run is over. */
  current_steps: number[];
  total_steps: number;
  completed_steps: number;
  failed_steps: number;
  blocked_steps: number;
  /** Steps that are done although no check, checkpoint review or person verified them. */
  unchecked: number;
  /** Where the checks ran last. */
  verified_on: "worktree" | "clean_checkout";
  report_path: string;
  /** The outcome of the work. */
  finish: FinishView;
  /** The pull request of the work; null: onloop has not followed one. */
  pull_request: PullRequestView | null;
  steps: {
    number: number;
    name: string;
    status: StepStatus;
    attempts: number;
    verify_passed: boolean | null;
    /** Whether a check, a checkpoint review or a person verified the step. */
    checked: boolean;
    gate_result: GateDecision | null;
    gate_mode: GateMode | null;
    block_reason: string | null;
    /** Warnings about checks that passed. */
    warnings: WarningView[];
    /** The changed files that each check opened. */
    inputs: InputsView[];
    /** The last agent of the step, and its conversation. */
    agent: string | null;
    session: string | null;
    /** Calls that were denied. */
    denied: number;
    usage: UsageView;
    /** Its checks with their last results. `onloop status RUN --json` alone has it. */
    checks?: CheckView[];
    /** The run of its own in which it works or worked beside other steps. */
    fork?: ForkView;
  }[];
  /** The usage of all agents. */
  usage: UsageView;
  /** The weakest sandbox of each worker of each step; empty if unknown. */
  confined: HoldView[];
  /** The last review. */
  review: { step: number | null; verdict: ReviewVerdict; findings: string } | null;
  /** The question for a person, if there is one. `onloop status RUN --json` alone has it. */
  asks?: AsksView;
}

/** The run of its own in which a step works or worked beside other steps. */
export interface ForkView {
  run: string;
  /** The commit at which it began. */
  base: string;
  state: "working" | "merging" | "merged" | "outdated";
  /** The commit of its merge into the run. */
  merged?: string;
  /** Files in which the step and others had changed the same lines. */
  conflicts?: string[];
  /** Why its last attempt failed. */
  failure?: string;
}

export type StepStatus = "pending" | "in_progress" | "done" | "failed" | "blocked";

/** The pull request of a run. */
export interface PullRequestView {
  url: string;
  /** The remote that has its branch. */
  remote: string;
  target_branch: string | null;
  state: "pending" | "green" | "red" | "merged" | "closed";
  /** When it was seen in that state first. */
  since: string;
  /** How often failing checks and conflicts may go back to the agent. */
  repair_limit: number;
  /** What went back, oldest first; absent: nothing. */
  repairs?: {
    cause: "checks" | "conflict" | "review";
    reason: string;
    commit: string;
    reviews?: string[];
  }[];
  /** Why onloop does not follow it any more; null: it does. */
  left: string | null;
}

/** The outcome of the work of a run; every member is null before there is one. */
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

/** A check and its result. */
export interface CheckView {
  /** The check on one line. */
  what: string;
  /** `waits`: for a person; `open`: not evaluated. */
  result: "passed" | "failed" | "waits" | "open";
  /** The reason of a failure, or the question for a person. */
  reason: string | null;
  /** Milliseconds, if known. */
  took_ms: number | null;
  /** When it was evaluated last. */
  at: string | null;
  warnings: string[];
  /** The files that it opened and that the run had changed, on one line. */
  opened?: string;
}

/** A question for a person, with the facts for the answer. */
export interface AsksView {
  /** The step; null for the whole run. */
  step: number | null;
  question: string;
  /** Whether the answer is a decision at the step's gate or review. */
  is_gate: boolean;
  /** At high risk, the name of the step, which a person types to approve it. */
  type_name: string | null;
  /** The text for a terminal of 80 columns, and its parts. */
  facts: FactsView | null;
  /** Identifies the shown state of the record, for `onloop gate --seen`. */
  seen: string;
}

/** The facts for a decision at a gate. */
export interface FactsView {
  /** All of it, for a terminal of 80 columns. */
  text: string;
  /** The task of the step. */
  action: string;
  risk: "low" | "medium" | "high";
  checks: CheckView[];
  /** Warnings about checks of earlier steps. */
  earlier: string[];
  /** The changed files with their numbers of lines. */
  changes: string;
  /** The same of the step alone; empty: nothing, or all of `changes`. */
  own_changes: string;
  /** The end of what the agent of the last attempt said. */
  said: string;
  /** The step since which changes are counted; null for the start of the run. */
  since_step: number | null;
  /** Why the changes are unknown. */
  changes_unknown: string | null;
  review: { verdict: ReviewVerdict; findings: string } | null;
}

/** A check in the facts of a gate. */
export interface CheckView {
  what: string;
  /** `waits`: for a person; `open`: not evaluated. */
  result: "passed" | "failed" | "waits" | "open";
  /** The reason of a failure, or the question for a person. */
  reason: string | null;
  took_ms: number | null;
  /** When it was evaluated last. */
  at: string | null;
  warnings: string[];
  /** The files that it opened and that the run had changed, on one line. */
  opened?: string;
}

/** The sandbox of the processes of a worker. */
export interface HoldView {
  worker: "agent" | "check" | "review" | "setup";
  step: number;
  /** The mechanism, if there was one. */
  by?: Mechanism;
  network?: Network;
  /** Caches outside of the worktree that it shared with other processes. */
  caches?: string[];
  /** Why there was no sandbox. */
  why?: string;
}

/** A file that the run changed and that a check depends on. */
export interface ChangedFileView {
  /** The file, relative to the top folder of the checkout. */
  path: string;
  /** `opened`: while the check ran; `named`: by its name only. */
  found: "opened" | "named";
  change: "changed" | "created" | "removed";
  /** Whether it is new and hides a module or a tool. */
  hides?: boolean;
  /** Whether `may_change` of every step that changed it names it. */
  expected?: boolean;
  /** The steps in which it changed. */
  steps?: number[];
  added?: number;
  removed?: number;
}

/** The files that a check opened and that the run had changed. */
export interface InputsView {
  /** The number of the check in its step, from 1. */
  check: number;
  /** Whether the host observed which files were opened. */
  observed: boolean;
  files: ChangedFileView[];
  /** How many more there are. */
  more: number;
}

/** A warning about the result of a check. */
export interface WarningView extends Partial<ChangedFileView> {
  kind:
    | "check_changed"
    | "check_unseen"
    | "passed_before"
    | "no_test_count"
    | "failures_reported"
    | "failures_ignored";
  /** The number of the check in its step, from 1. */
  check: number;
  /** The whole warning, for people. */
  text: string;
  /** Why the result is unknown, or which failures are ignored. */
  reason?: string;
  /** The test runner that did not count its tests. */
  runner?: string;
  /** How many failures a test runner reported. */
  failed?: number;
}

/** The receipt of a run: `hotl.receipt/v1`. */
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
    /** Whether a check, a checkpoint review or a person verified the step. */
    checked: boolean;
    verification: {
      required: boolean;
      type: "shell" | "browser" | "human-review" | "artifact" | "multi" | null;
      /** The reviewed item, in the words of the plan. */
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
    inputs: InputsView[];
    fork?: ForkView;
  }[];
  /** Steps that are done although nothing verified them. */
  unchecked: number;
  /** Where the checks ran last. */
  verified_on: "worktree" | "clean_checkout";
  checks_repeated_at_end: boolean;
  finish: FinishView;
  sufficiency: { sufficient: boolean; reasons: string[] };
  redaction: { contains_output: false; contains_prompts: false };
}

/** A tool call and its context, as in a line of `onloop permit batch`. */
export interface ToolCall {
  /** The name of the tool, exactly as the client sends it. */
  tool: string;
  /** Its input, of any form. */
  input?: unknown;
  /** The absolute folder of the call. */
  cwd: string;
  /** Another root for the state of hands-off sessions. */
  home?: string | null;
  /** The session, if it runs a workflow. */
  session?: { id: string; workflow?: string } | null;
  /** The checked-out branch; null without a repository or a branch. */
  git_branch?: string | null;
  /** Decide as if the call ran in a sandbox: effects inside it are allowed. */
  confined?: boolean;
  /** Contents of the configuration files. */
  config?: {
    /** `.agentize.yaml` of the project. */
    project?: string;
    /** Whether the developer trusts exactly this content. Without trust its allow rules have no effect. */
    project_trusted?: boolean;
    /** `.agentize.local.yaml` of the developer. */
    local?: string;
  } | null;
}

export type Decision = "allow" | "ask" | "deny";

/** The decision about a tool call. */
export interface Ruling {
  decision: Decision;
  /** The rule that decided. */
  rule: string;
  /** The reason, for people: one line. */
  reason: string;
}

/** A decision with its explanation. */
export interface Explanation extends Ruling {
  commands: {
    name: string;
    /** Unknown parts are `…`. */
    words: string[];
    about: string;
    class: string | null;
    /** The table that knows the program, and the manuals that it follows. */
    table: string;
    source: string;
    /** Whether its effects stay inside a sandbox. */
    containable: boolean;
    /** A change of the rules that would change the decision. */
    to_change_it: string | null;
    depth: number;
    decision: Decision;
    rule: string | null;
    reason: string | null;
  }[];
  /** Problems in the rules of project or developer. */
  notes: string[];
}

/** The result of a command line. */
export interface Captured {
  exit: number;
  /** Standard output. */
  result: string;
  /** Standard error. */
  notes: string;
}
