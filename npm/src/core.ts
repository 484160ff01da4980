/** The core with the programs of the command line. */

import { type Glue, bind } from "../build/onloop.js";
import * as given from "./arguments.js";
import type { Captured } from "./documents.js";
import { Functions } from "./functions.js";
import type { Host, Secret } from "./host.js";
import { Instance, type ModuleSource, hasPrograms } from "./instance.js";
import { Language } from "./language.js";
import { share } from "./shared_module.js";
import type { Start } from "./vocabulary.js";
import { perform, readTurn } from "./wire.js";

/** Exit code of a bug, as the command line reports it. */
export const EXIT_BUG = 70;

/** The environment variable that names the file of a trace. */
export const TRACE = "ONLOOP_TRACE";

/** Terminal escape sequences, in notes for people. */
const STYLES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;

/**
 * The whole core: its functions, and its programs for a host. Each program runs in a separate instance, so
 * that a bug ends only the call that hit it.
 */
export class Core extends Functions {
  /** Language features of workflow files, for editors. */
  readonly language = new Language((use) => this.#once((instance) => instance.call(use)));
  /** Instances whose programs have ended. */
  readonly #idle: Instance<Glue>[] = [];

  /** `module`: the bytes of `onloop/onloop.wasm`, or a `WebAssembly.Module` made of them. */
  constructor(module: ModuleSource) {
    super(bind, module);
    if (!hasPrograms(this.module)) {
      throw new TypeError("the module has no programs; expected `onloop/onloop.wasm`, or `PureCore`");
    }
    share(this.module);
  }

  /** Runs the program of a command line and captures its output. */
  async capture(start: Start, host: Host): Promise<Captured> {
    const said = { result: "", note: "" };
    given.host(host);
    const listening: Host = {
      perform: async (request) => {
        if (request.do !== "say") return host.perform(request);
        said[request.to] += request.text;
        return { is: "done" };
      },
      nowMs: () => host.nowMs(),
      end: () => host.end(),
    };
    const exit = await this.run(start, listening);
    return { exit, result: said.result, notes: said.note.replace(STYLES, "") };
  }

  /**
   * Runs the program of a command line on a host and returns its exit code. `trace` gets each line of a
   * trace, with its line break, before the event takes effect.
   */
  async run(start: Start, host: Host, trace?: (line: string) => void): Promise<number> {
    const startJson = given.start(start);
    given.host(host);
    const instance = this.#idle.pop() ?? this.#instance();
    const number = instance.call((core) => core.program_begin(startJson));
    trace?.(instance.call((core) => core.trace_begin(number, startJson)));
    let known: Secret[] | undefined;
    const secrets = (): Secret[] => (known ??= secretsIn(instance, start.env));
    let reply: string | undefined;
    let attachments: Uint8Array[] = [];
    try {
      for (;;) {
        const answer = instance.call((core) => core.program_resume(number, reply, attachments));
        const [json, ...sent] = answer as [string, ...Uint8Array[]];
        trace?.(instance.call((core) => core.trace_turn(number, json, sent)));
        const turn = readTurn({ json, attachments: sent });
        if ("exit" in turn) return turn.exit;
        const { request } = turn;
        // An onloop inside that program must not overwrite the same file.
        if (trace && request.do === "process") request.env_remove.push(TRACE);
        const logs = request.do === "process" && request.stream_to !== null;
        const message = await perform(host, logs ? { ...request, secrets: secrets() } : request);
        reply = message.json;
        attachments = message.attachments;
        trace?.(instance.call((core) => core.trace_reply(number, message.json, message.attachments)));
      }
    } finally {
      try {
        this.#giveBack(instance, number);
      } finally {
        await host.end();
      }
    }
  }

  /** The secrets of an environment, in each form that programs write. Hosts redact them in logs. */
  secrets(env: Readonly<Record<string, string>>): Secret[] {
    return this.#once((instance) => secretsIn(instance, env));
  }

  /** The answer of a hook that failed; `undefined` for another command line. Works after a bug. */
  brokenHookAnswer(argv: readonly string[]): string | undefined {
    const words = given.texts("argv", argv);
    return this.#once((instance) => instance.call((core) => core.broken_hook_answer(words)));
  }

  /** The shell command that records a trace of a command line. */
  recordingCommand(argv: readonly string[]): string | undefined {
    const words = given.texts("argv", argv);
    return this.#once((instance) => instance.call((core) => core.recording_command_of(words)));
  }

  #instance(): Instance<Glue> {
    return new Instance(bind, this.module);
  }

  #giveBack(instance: Instance<Glue>, program: number): void {
    if (instance.hasTrapped) return;
    instance.call((core) => core.program_drop(program));
    // One idle instance is enough for programs that run one after the other.
    if (this.#idle.length === 0) this.#idle.push(instance);
  }

  /** Calls a function that does not wait. */
  #once<T>(use: (instance: Instance<Glue>) => T): T {
    const instance = this.#idle.pop() ?? this.#instance();
    try {
      return use(instance);
    } finally {
      if (!instance.hasTrapped) this.#idle.push(instance);
    }
  }
}

function secretsIn(instance: Instance<Glue>, env: Readonly<Record<string, string>>): Secret[] {
  const variables = given.variables("env", env);
  const pairs = JSON.parse(instance.call((core) => core.secrets(variables))) as [string, string][];
  return pairs.map(([form, placeholder]) => ({ form, placeholder }));
}
