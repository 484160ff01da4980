/** The core in WebAssembly, kept usable: a trap costs one instance and nothing else. */

import * as glue from "../build/onloop.js";
import type { Host } from "./host.js";
import { type Start, type Turn, perform } from "./wire.js";

/** One finding in a workflow file. Offsets count UTF-16 units, as JavaScript strings do. */
export interface Diagnostic {
  /** Stable name of the rule. */
  code: string;
  severity: "error" | "warning";
  message: string;
  help: string | null;
  start: number;
  end: number;
  /** A change that mends it and nothing else. */
  fix: Fix | null;
}

export interface Fix {
  title: string;
  /** In ascending order, without overlap, against the text that was linted. */
  edits: { start: number; end: number; text: string }[];
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

/** What came of evaluating one check. */
export interface CheckResult {
  /** Which of the step's checks, from 0. */
  check: number;
  verdict: "passed" | "failed" | "needs_human" | "cannot_evaluate";
  reason?: string;
  stdout: string;
  stderr: string;
}

/** Something that happened to a run. */
export type RunEvent =
  | { event: "step_started" | "step_acted"; step: number }
  | { event: "action_failed"; step: number; reason: string; output: string }
  | { event: "step_verified"; step: number; results: CheckResult[] }
  | { event: "step_blocked"; step: number; reason: string }
  | {
      event: "gate_decided";
      step: number;
      decision: "approved" | "rejected";
      mode: "auto" | "human";
    }
  | {
      event: "review_finished";
      step: number | null;
      verdict: string;
      findings: string;
      base: string | null;
    }
  | { event: "checks_repeated"; repeated: number; failures: [number, CheckResult][] }
  | { event: "run_paused"; reason: string }
  | { event: "verdict_accepted" | "run_resumed" | "run_finalized" };

/** What should happen to a run now. */
export interface Next {
  run_id: string;
  status: RunStatus;
  action:
    | "start"
    | "act"
    | "verify"
    | "approve"
    | "block"
    | "review"
    | "ask-gate"
    | "ask-review"
    | "ask-verdict"
    | "ask-interrupted"
    | "repeat-checks"
    | "finalize"
    | "blocked"
    | "finished";
  step?: number | null;
  attempt?: number;
  reason?: string;
  prompt?: string;
  rejected?: boolean;
}

export type RunStatus =
  | "running"
  | "paused"
  | "blocked"
  | "ready_to_finish"
  | "completed"
  | "abandoned";

/** The summary of a run. */
export interface RunView {
  run_id: string;
  status: RunStatus;
  workflow_path: string;
  intent: string;
  branch: string | null;
  execution_root: string;
  total_steps: number;
  completed_steps: number;
  failed_steps: number;
  blocked_steps: number;
  report_path: string;
  steps: {
    number: number;
    name: string;
    status: "pending" | "in_progress" | "done" | "failed" | "blocked";
    attempts: number;
    verify_passed: boolean | null;
    gate_result: string | null;
    gate_mode: string | null;
    block_reason: string | null;
  }[];
  [other: string]: unknown;
}

/** A bug in onloop. The call that hit it failed; the next one works. */
export class Bug extends Error {
  override readonly name = "Bug";
}

/** Exit code of a bug, as the command line reports it. */
export const EXIT_BUG = 70;

/** The record of a run as its file has it. Opaque: kept and passed on as it is. */
export type RunRecord = string;

/** How the message of a bug begins; the core marks its panics with it. */
export const PANIC = "onloop hit a bug of its own";

/** The core. Its functions are pure: same arguments, same answer, on every host. */
export class Core {
  readonly #module: WebAssembly.Module;

  /** `module`: the bytes of `onloop/onloop.wasm`, or a `WebAssembly.Module` made of them. */
  constructor(module: Uint8Array | ArrayBuffer | object) {
    this.#module =
      module instanceof WebAssembly.Module
        ? module
        : new WebAssembly.Module(module as Uint8Array<ArrayBuffer> | ArrayBuffer);
  }

  version(): string {
    return this.#call(() => glue.version());
  }

  /** Milliseconds since 1970 of an RFC 3339 time or a number of milliseconds. */
  parseTime(text: string): number | undefined {
    return this.#call(() => glue.parse_time(text));
  }

  classify(path: string, text: string): "workflow" | "design" | "other" {
    return this.#call(() => glue.classify(path, text)) as "workflow" | "design" | "other";
  }

  /** What is wrong with a workflow file. */
  lint(path: string, text: string): Diagnostic[] {
    return JSON.parse(this.#call(() => glue.lint(path, text))) as Diagnostic[];
  }

  /** The file after every safe fix, and how many were applied. */
  fix(path: string, text: string): { text: string; applied: number } {
    return JSON.parse(this.#call(() => glue.fix(path, text))) as { text: string; applied: number };
  }

  /** The workflow as `hotl.workflow/v1`; nothing when it has errors. */
  normalize(path: string, text: string): object | undefined {
    const json = this.#call(() => glue.normalize(path, text));
    return json === undefined ? undefined : (JSON.parse(json) as object);
  }

  /** The record of a new run. Throws when the workflow has errors. */
  begin(path: string, text: string, beginning: Beginning): RunRecord {
    return this.#call(() => glue.begin(path, text, JSON.stringify(beginning)));
  }

  /** The record after an event. Throws when the event is refused. */
  apply(record: RunRecord, atMs: number, event: RunEvent): RunRecord {
    return this.#call(() => glue.apply(record, atMs, JSON.stringify(event)));
  }

  next(record: RunRecord): Next {
    return JSON.parse(this.#call(() => glue.next(record))) as Next;
  }

  view(record: RunRecord): RunView {
    return JSON.parse(this.#call(() => glue.view(record))) as RunView;
  }

  /** The report, as Markdown. */
  report(record: RunRecord): string {
    return this.#call(() => glue.report(record));
  }

  /** The final summary as a platform shows it. */
  summary(record: RunRecord, platform: "claude" | "codex" | "cline"): string {
    return this.#call(() => glue.summary(record, platform));
  }

  /** What an agent is told to do for a step. */
  prompt(record: RunRecord, step: number): string {
    return this.#call(() => glue.prompt(record, step));
  }

  /** Runs the program of a command line on a host and returns its exit code. */
  async run(start: Start, host: Host): Promise<number> {
    const number = this.#call(() => glue.program_begin(JSON.stringify(start)));
    const generation = live.generation;
    let reply: string | undefined;
    let attachments: Uint8Array[] = [];
    try {
      for (;;) {
        if (live.generation !== generation) {
          throw new Bug("the program ended because another call hit a bug of onloop");
        }
        const answer = this.#call(() => glue.program_resume(number, reply, attachments));
        const [json, ...sent] = answer as [string, ...Uint8Array[]];
        const turn = JSON.parse(json) as Turn;
        if ("exit" in turn) return turn.exit;
        const message = await perform(host, turn.request, sent);
        reply = message.json;
        attachments = message.attachments;
      }
    } finally {
      if (live.generation === generation) this.#call(() => glue.program_drop(number));
      await host.locks.releaseAll();
    }
  }

  /** Memory of the instance; it only grows. */
  memoryBytes(): number {
    return this.#call(() => glue.memory_bytes());
  }

  /** For tests: a call that hits a bug. */
  panicForTests(message: string): void {
    this.#call(() => {
      glue.panic_for_tests(message);
    });
  }

  #call<T>(call: () => T): T {
    live.use(this.#module);
    try {
      return call();
    } catch (error) {
      throw live.judge(error);
    }
  }
}

/** The one instance behind the binding, which is made of module variables. */
const live = {
  module: undefined as WebAssembly.Module | undefined,
  /** Changes when the instance is replaced; programs of an earlier one are gone. */
  generation: 0,

  use(module: WebAssembly.Module): void {
    if (this.module !== undefined) return;
    glue.initSync({ module });
    this.module = module;
  },

  /** After a trap nothing in the instance can be trusted: the next call gets a new one. */
  judge(error: unknown): unknown {
    const message = error instanceof Error ? error.message : String(error);
    const trapped =
      error instanceof WebAssembly.RuntimeError ||
      error instanceof RangeError ||
      message.startsWith(PANIC);
    if (!trapped) return error;
    glue.__wbg_reset_state();
    this.generation += 1;
    const text = message.startsWith(PANIC) ? message : `${PANIC}: ${message}`;
    return new Bug(text, { cause: error });
  },
};
