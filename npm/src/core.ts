/** The core with the programs behind the command line. */

import * as glue from "../build/onloop.js";
import * as given from "./arguments.js";
import type { Outcome } from "./documents.js";
import { Functions } from "./functions.js";
import type { Host, Secret } from "./host.js";
import { Bug, Instance, type ModuleSource, hasPrograms } from "./instance.js";
import type { Start, Turn } from "./vocabulary.js";
import { perform } from "./wire.js";

/** Exit code of a bug, as the command line reports it. */
export const EXIT_BUG = 70;

/** The environment variable that names the file of a trace. */
export const TRACE = "ONLOOP_TRACE";

/** Terminal escape sequences, in notes for people. */
const STYLES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;

const live = new Instance(glue);

/** The whole core: its functions, and its programs for a host. */
export class Core extends Functions {
  /** `module`: the bytes of `onloop/onloop.wasm`, or a `WebAssembly.Module` made of them. */
  constructor(module: ModuleSource) {
    super(live, module);
    if (!hasPrograms(this.module)) {
      throw new TypeError("the module has no programs; expected `onloop/onloop.wasm`, or `PureCore`");
    }
  }

  /** Runs the program of a command line and captures its output. */
  async capture(start: Start, host: Host): Promise<Outcome> {
    const said = { result: "", note: "" };
    given.host(host);
    const { terminal } = host;
    const listening: Host = {
      files: host.files,
      locks: host.locks,
      processes: host.processes,
      git: host.git,
      ...(host.servers && { servers: host.servers }),
      ...(host.serve && { serve: host.serve }),
      clock: host.clock,
      terminal: {
        say: async (to, text) => {
          said[to] += text;
        },
        ask: (question) => terminal.ask(question),
        ...(terminal.readInput && { readInput: (limit, waitMs) => terminal.readInput!(limit, waitMs) }),
        ...(terminal.readBytes && { readBytes: (limit, waitMs) => terminal.readBytes!(limit, waitMs) }),
      },
    };
    const exit = await this.run(start, listening);
    return { exit, result: said.result, notes: said.note.replace(STYLES, "") };
  }

  /**
   * Runs the program of a command line on a host and returns its exit code. `trace` gets each
   * line of a recording, with its line break, before what it says is acted on.
   */
  async run(start: Start, host: Host, trace?: (line: string) => void): Promise<number> {
    const startJson = given.start(start);
    given.host(host);
    const number = this.#call((core) => core.program_begin(startJson));
    const generation = live.generation;
    trace?.(this.#call((core) => core.trace_begin(number, startJson)));
    let known: Secret[] | undefined;
    const secrets = (): Secret[] => (known ??= this.secrets(start.env));
    let reply: string | undefined;
    let attachments: Uint8Array[] = [];
    try {
      for (;;) {
        if (live.generation !== generation) {
          throw new Bug("the program ended because another call hit a bug of onloop");
        }
        const answer = this.#call((core) => core.program_resume(number, reply, attachments));
        const [json, ...sent] = answer as [string, ...Uint8Array[]];
        trace?.(this.#call((core) => core.trace_turn(number, json, sent)));
        const turn = JSON.parse(json) as Turn;
        if ("exit" in turn) return turn.exit;
        // An onloop started by a program that we run must not overwrite the same file.
        if (trace && turn.request.do === "process") turn.request.env_remove.push(TRACE);
        const message = await perform(host, turn.request, sent, secrets);
        reply = message.json;
        attachments = message.attachments;
        trace?.(this.#call((core) => core.trace_reply(number, message.json, message.attachments)));
      }
    } finally {
      if (live.generation === generation) this.#call((core) => core.program_drop(number));
      // What was left running has ended before somebody else may begin.
      try {
        await host.serve?.close();
        await host.processes.endLeft?.();
      } finally {
        await host.locks.releaseAll();
      }
    }
  }

  /**
   * What is secret in an environment, in each form in which programs write it: a host keeps it out
   * of the logs that it writes.
   */
  secrets(env: Readonly<Record<string, string>>): Secret[] {
    const pairs = JSON.parse(this.#call((core) => core.secrets(given.variables("env", env)))) as [string, string][];
    return pairs.map(([form, placeholder]) => ({ form, placeholder }));
  }

  /**
   * The answer of a hook that failed before it gave one; undefined where the command line is not a
   * hook's. Works after a bug, too.
   */
  brokenHookAnswer(argv: readonly string[]): string | undefined {
    return this.#call((core) => core.broken_hook_answer(given.texts("argv", argv)));
  }

  /** The command that records the program of a command line, to be copied into a shell. */
  recordingCommand(argv: readonly string[]): string | undefined {
    return this.#call((core) => core.recording_command_of(given.texts("argv", argv)));
  }

  #call<T>(use: (core: typeof glue) => T): T {
    return live.call(this.module, use);
  }
}
