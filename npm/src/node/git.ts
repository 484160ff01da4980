/**
 * Performs git requests with the git program, version 2.36 or newer. The core knows what a request needs
 * (`core/git`); this starts the git commands that it asks for.
 */

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { delimiter } from "node:path";
import { type Glue, bind } from "../../build/onloop.js";
import { Failure } from "../failure.js";
import type { GitCommand, Step, StepReply } from "../git_steps.js";
import { Instance, compiled } from "../instance.js";
import { sharedModule } from "../shared_module.js";
import type { GitRequest, Outcome } from "../vocabulary.js";
import { type Message, attached, message, written } from "../wire.js";
import { code, failure, is } from "./errors.js";
import { performStep, slashed } from "./git_files.js";
import { type CommandEnd, GitProcesses } from "./git_processes.js";
import type { Interrupts } from "./interrupts.js";
import type { Root } from "./root.js";

/** What the core wants next. */
type Turn = { step: Step } | { outcome: Outcome } | { failure: Pick<Failure, "kind" | "message" | "fix"> };

/** Members of requests that are paths. */
const PATHS = ["cwd", "path", "index", "pack"];

export class NodeGit {
  readonly #root: Root;
  readonly #programs: GitProcesses;
  readonly #longestMs: number | undefined;
  #core: Instance<Glue> | undefined;

  /** An interrupt ends git. No git command runs longer than `longestMs`. */
  constructor(root: Root, interrupts?: Interrupts, longestMs?: number) {
    this.#root = root;
    this.#programs = new GitProcesses(interrupts);
    this.#longestMs = longestMs;
  }

  /** Ends running git commands before this process exits, and lets them remove their locks. */
  endNow(): void {
    this.#programs.endNow();
  }

  async perform(request: GitRequest): Promise<Outcome> {
    const core = this.#instance();
    const { json, attachments } = message({
      request: this.#resolved(request),
      cwd: slashed(this.#root.folder),
      env: environment(),
      longest_ms: this.#longestMs ?? null,
    });
    const number = core.call((glue) => glue.git_begin(json, attachments));
    let reply: Message | undefined;
    for (;;) {
      const answer = core.call((glue) => glue.git_resume(number, reply?.json, reply?.attachments ?? []));
      const [text, ...sent] = answer as [string, ...Uint8Array[]];
      const turn = attached({ json: text, attachments: sent }) as Turn;
      if ("outcome" in turn) return turn.outcome;
      if ("failure" in turn) {
        const { kind, message: why, fix } = turn.failure;
        // Every command of the request has ended.
        if (kind === "interrupted") this.#programs.takeInterrupt();
        throw new Failure(kind, why, fix);
      }
      reply = await written("reply", () => this.#performed(turn.step));
    }
  }

  /** An instance for git; a bug in it costs only the requests that it was working on. */
  #instance(): Instance<Glue> {
    if (this.#core === undefined || this.#core.hasTrapped) {
      const module = sharedModule() ?? compiled(readFileSync(new URL("./onloop.wasm", import.meta.url)));
      this.#core = new Instance(bind, module);
    }
    return this.#core;
  }

  #resolved(request: GitRequest): GitRequest {
    const members = Object.entries(request).map(([name, value]) =>
      PATHS.includes(name) ? [name, slashed(this.#root.resolve(String(value)))] : [name, value],
    );
    return Object.fromEntries(members) as GitRequest;
  }

  async #performed(step: Step): Promise<StepReply> {
    if (step.step !== "run") return performStep(step);
    const ends = await Promise.all(step.commands.map((command) => this.#run(command)));
    return { is: "ended", ends };
  }

  #run(command: GitCommand): Promise<CommandEnd> {
    return this.#programs.run(command).catch((error: unknown) => {
      if (is(error, "ENOENT") && existsSync(command.cwd)) {
        throw new Failure("unsupported", "the program `git` is not installed");
      }
      throw code(error) === undefined ? error : failure(error, `\`${command.cwd}\``);
    });
  }
}

/** The variables that the core looks at: those of git, the home, and where programs are. */
function environment(): Record<string, string> {
  const named = Object.entries(process.env).filter(([name]) => name === "HOME" || name === "PATH" || name.startsWith("GIT_"));
  return Object.fromEntries(named.map(([name, value]) => [name, name === "PATH" ? realFolders(value ?? "") : (value ?? "")]));
}

/** The folders of a search path, as they are named without links. */
function realFolders(path: string): string {
  const real = (folder: string): string => {
    try {
      return realpathSync(folder);
    } catch {
      return folder;
    }
  };
  return path.split(delimiter).map(real).join(delimiter);
}
