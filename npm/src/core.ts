/** The core in WebAssembly, kept usable: a trap costs one instance and nothing else. */

import * as glue from "../build/onloop.js";
import type {
  Beginning,
  Diagnostic,
  Explanation,
  Feature,
  Field,
  Next,
  Outline,
  Outcome,
  Profile,
  Progress,
  Started,
  Receipt,
  Rehearsal,
  Route,
  RouteFacts,
  Ruling,
  RunEvent,
  RunRecord,
  RunView,
  Scenario,
  TaskStatus,
  ToolCall,
} from "./documents.js";
import type { Host } from "./host.js";
import { type Start, type Turn, perform } from "./wire.js";

/** A bug in onloop. The call that hit it failed; the next one works. */
export class Bug extends Error {
  override readonly name = "Bug";
}

/** Exit code of a bug, as the command line reports it. */
export const EXIT_BUG = 70;

/** How the message of a bug begins; the core marks its panics with it. */
export const PANIC = "onloop hit a bug of its own";

const encoder = new TextEncoder();

/** Escape sequences of terminals, in words for people. */
const STYLES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;

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
    return this.#call(() => glue.classify(path, encoder.encode(text))) as "workflow" | "design" | "other";
  }

  /** What is wrong with a workflow file. */
  lint(path: string, text: string): Diagnostic[] {
    return JSON.parse(this.#call(() => glue.lint(path, encoder.encode(text)))) as Diagnostic[];
  }

  /** The file after every safe fix, and how many were applied. */
  fix(path: string, text: string): { text: string; applied: number } {
    return JSON.parse(this.#call(() => glue.fix(path, encoder.encode(text)))) as { text: string; applied: number };
  }

  /** Where the parts of a workflow file are, also of one with errors. */
  outline(path: string, text: string): Outline {
    return JSON.parse(this.#call(() => glue.outline(path, encoder.encode(text)))) as Outline;
  }

  /** What can be written in a workflow file, in the order of its documentation. */
  fields(): Field[] {
    return JSON.parse(this.#call(() => glue.fields())) as Field[];
  }

  /** The workflow as `hotl.workflow/v1`; nothing when it has errors. */
  normalize(path: string, text: string): object | undefined {
    const json = this.#call(() => glue.normalize(path, encoder.encode(text)));
    return json === undefined ? undefined : (JSON.parse(json) as object);
  }

  /** The record of a new run. Throws when the workflow has errors. */
  begin(path: string, text: string, beginning: Beginning): RunRecord {
    return this.#call(() => glue.begin(path, encoder.encode(text), JSON.stringify(beginning)));
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

  /** What the record proves, without any output text. */
  receipt(record: RunRecord): Receipt {
    return JSON.parse(this.#call(() => glue.receipt(record))) as Receipt;
  }

  /**
   * May this tool call run? Throws when the call cannot be judged, which must not be taken
   * for yes.
   */
  decide(call: ToolCall): Ruling {
    return JSON.parse(this.#call(() => glue.decide(JSON.stringify(call)))) as Ruling;
  }

  /** The decision about a call, and how every command in it was understood. */
  explain(call: ToolCall): Explanation {
    return JSON.parse(this.#call(() => glue.explain(JSON.stringify(call)))) as Explanation;
  }

  /** Whether `list`, the content of the developer's list of trust, has exactly this file. */
  isTrusted(list: string, content: string): boolean {
    return this.#call(() => glue.is_trusted(list, content));
  }

  /** The list of trust with this content in it, or without. */
  setTrusted(list: string, content: string, trusted: boolean): string {
    return this.#call(() => glue.set_trusted(list, content, trusted));
  }

  /** The hands-off session that a prompt starts, if its first word is such a command. */
  startedBy(prompt: string): Started | undefined {
    const started = this.#call(() => glue.started_by(prompt));
    return started === undefined ? undefined : (JSON.parse(started) as Started);
  }

  /** The task table of `.ai/PROGRESS.md`. */
  readProgress(text: string): Progress {
    return JSON.parse(this.#call(() => glue.read_progress(text))) as Progress;
  }

  /**
   * The progress file with another status, and perhaps another commit, in every row of a task;
   * nothing when no row of it can be edited.
   */
  withTaskStatus(text: string, id: string, status: TaskStatus, commit?: string): string | undefined {
    return this.#call(() => glue.with_task_status(text, id, status, commit));
  }

  /** What a file in `.ai/features` declares. */
  readFeature(text: string): Feature {
    return JSON.parse(this.#call(() => glue.read_feature(text))) as Feature;
  }

  /** Where rw-auto would send a workspace of which this is known. */
  route(profile: Profile, facts: RouteFacts): Route {
    return JSON.parse(this.#call(() => glue.route(profile, JSON.stringify(facts)))) as Route;
  }

  /** A whole run of rw-auto over a made-up workspace. Throws when that is no scenario. */
  rehearse(scenario: Scenario): Rehearsal {
    const answer = JSON.parse(this.#call(() => glue.rehearse(JSON.stringify(scenario)))) as
      | Rehearsal
      | { error: string };
    if ("error" in answer) throw new Error(answer.error);
    return answer;
  }

  /** Runs the program of a command line and keeps what it says. */
  async capture(start: Start, host: Host): Promise<Outcome> {
    const said = { result: "", note: "" };
    const { terminal } = host;
    const listening: Host = {
      files: host.files,
      locks: host.locks,
      processes: host.processes,
      git: host.git,
      ...(host.servers && { servers: host.servers }),
      clock: host.clock,
      terminal: {
        say: async (to, text) => {
          said[to] += text;
        },
        ask: (question) => terminal.ask(question),
        ...(terminal.readInput && { readInput: (limit, waitMs) => terminal.readInput!(limit, waitMs) }),
      },
    };
    const exit = await this.run(start, listening);
    return { exit, result: said.result, notes: said.note.replace(STYLES, "") };
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
      // What was left running is over when somebody else may begin.
      try {
        await host.processes.endLeft?.();
      } finally {
        await host.locks.releaseAll();
      }
    }
  }

  /**
   * What a hook says that breaks before it has said anything; undefined where the command line
   * is no hook's. Works after a bug, too.
   */
  brokenHookAnswer(argv: readonly string[]): string | undefined {
    return this.#call(() => glue.broken_hook_answer(JSON.stringify(argv)));
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
