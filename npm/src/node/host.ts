/** `NodeHost`: performs requests with Node. */

import { randomBytes } from "node:crypto";
import type { Failure } from "../failure.js";
import type { Asked, Host, HostRequest } from "../host.js";
import type { OperatingSystem, Outcome, Start } from "../vocabulary.js";
import { NodeChanges } from "./changes.js";
import { unknownRequest } from "./errors.js";
import { NodeFiles } from "./files.js";
import { NodeGit } from "./git.js";
import { http } from "./http.js";
import { Interrupts } from "./interrupts.js";
import { interrupt, launch } from "./launch.js";
import { NodeLocks } from "./locks.js";
import { withProgress } from "./git_progress.js";
import { ancestors, identity } from "./process_table.js";
import { NodeProcesses, type NewStatusLine } from "./processes.js";
import { Root } from "./root.js";
import { NodeServe } from "./serve.js";
import { endGroup } from "./process_groups.js";
import { StatusLine } from "./status_line.js";
import { NodeTerminal, isStyled } from "./terminal.js";

/** Options of a host; the defaults are those of the current process. */
export interface NodeHostOptions {
  /** Absolute; relative paths are below it. Default: the current folder. */
  cwd?: string;
  /** A fixed time for the clock, in milliseconds since 1970. */
  frozenMs?: number;
  /** Whether a person at standard input answers questions. Default: whether it is a terminal. */
  attended?: boolean;
  /**
   * Longest time for one command of git, in milliseconds. Default: 5 minutes for a question, 30 for
   * a checkout, a merge or a push.
   */
  gitTimeoutMs?: number;
}

export class NodeHost implements Host {
  readonly cwd: string;
  readonly #root: Root;
  readonly #interrupts = new Interrupts();
  readonly #files: NodeFiles;
  readonly #changes: NodeChanges;
  readonly #locks: NodeLocks;
  readonly #processes: NodeProcesses;
  readonly #git: NodeGit;
  readonly #serve: NodeServe;
  readonly #terminal: NodeTerminal;
  readonly #statusLine: NewStatusLine;
  readonly #attended: boolean;
  readonly #frozenMs: number | undefined;

  constructor(options: NodeHostOptions = {}) {
    this.cwd = options.cwd ?? process.cwd();
    this.#attended = options.attended ?? process.stdin.isTTY === true;
    this.#frozenMs = options.frozenMs;
    const root = new Root(this.cwd);
    this.#root = root;
    const interrupts = this.#interrupts;
    const styled = isStyled(process.stderr.isTTY === true, process.env);
    const terminal = new NodeTerminal({ attended: this.#attended, styled }, interrupts);
    const warn = (message: string): void => {
      terminal.note(`warning: ${message}\n`).catch(() => undefined);
    };
    this.#statusLine = (label, started) => (styled ? new StatusLine(label, started) : undefined);
    const watchInput = (wake: () => void): (() => void) => terminal.watchInput(wake);
    this.#terminal = terminal;
    this.#files = new NodeFiles(root, warn);
    this.#changes = new NodeChanges(root, interrupts);
    this.#locks = new NodeLocks(root, identity(), interrupts);
    this.#processes = new NodeProcesses(root, interrupts, warn, watchInput, this.#statusLine);
    this.#git = new NodeGit(root, interrupts, options.gitTimeoutMs);
    this.#serve = new NodeServe(interrupts, new NodeChanges(root, interrupts));
  }

  nowMs(): number {
    return this.#frozenMs ?? Date.now();
  }

  async perform(request: HostRequest): Promise<Outcome> {
    switch (request.do) {
      case "read":
        return this.#files.read(request);
      case "read_tail":
        return this.#files.readTail(request);
      case "write":
        return this.#files.write(request);
      case "append":
        await this.#files.append(request);
        break;
      case "patch":
        await this.#files.patch(request);
        break;
      case "remove":
        await this.#files.remove(request.path);
        break;
      case "list":
        return { is: "names", names: await this.#files.list(request.path) };
      case "stat":
        return { is: "stat", ...(await this.#files.stat(request.path)) };
      case "canonical":
        return { is: "path", path: await this.#files.canonical(request.path) };
      case "lock":
        await this.#locks.lock(request, this.nowMs());
        break;
      case "unlock":
        await this.#locks.unlock(request.path);
        break;
      case "holder":
        return { is: "holder", holder: await this.#locks.holder(request.path) };
      case "ancestors":
        return { is: "processes", processes: await ancestors() };
      case "process":
        return this.#timed(await this.#processes.run(request));
      case "wait":
        return this.#timed(await this.#processes.wait(request));
      case "end":
        await this.#processes.endLeft();
        break;
      case "end_group":
        return { is: "ended", survivors: await endGroup(request) };
      case "launch":
        await launch(this.#interrupts, this.#root, request);
        break;
      case "interrupt":
        await interrupt(request);
        break;
      case "git": {
        const work = (): Promise<Outcome> => this.#git.perform(request);
        // With a frozen clock the output does not depend on durations.
        if (this.#frozenMs !== undefined) return work();
        return withProgress(request.git, work, (line) => this.#terminal.note(line), this.#statusLine);
      }
      case "http":
        return { is: "http", ...(await http(this.#interrupts, request)) };
      case "serve":
        return this.#serve.perform(request);
      case "ask":
        return this.#ask(request);
      case "read_input":
        return this.#terminal.read(request);
      case "changes":
        return { is: "changed", changed: await this.#changes.changes(request.folders, request.wait_ms) };
      case "sleep":
        await this.#interrupts.sleep(request.duration_ms);
        break;
      case "say":
        await this.#terminal.say(request.to, request.text);
        break;
      default:
        return unknownRequest(request);
    }
    return { is: "done" };
  }

  async #ask({ question, unless_changed: watched }: Asked<"ask">): Promise<Outcome> {
    const file = watched == null ? undefined : { path: this.#root.resolve(watched.path), sizeBytes: watched.size_bytes };
    const answer = await this.#terminal.ask(question, file);
    return answer === undefined ? { is: "changed", changed: true } : { is: "answer", answer };
  }

  /** Reports no duration with a frozen clock, so that the output is reproducible. */
  #timed(outcome: Outcome): Outcome {
    const isFrozen = this.#frozenMs !== undefined && outcome.is === "process";
    return isFrozen ? { ...outcome, duration_ms: 0 } : outcome;
  }

  async end(): Promise<void> {
    this.#serve.close();
    try {
      await this.#processes.endLeft();
    } finally {
      // Locks come last, because the running program may need them.
      await this.#locks.releaseAll();
    }
  }

  /** Interrupts the request that waits, or the next one. Ctrl-C calls this. */
  interrupt(): void {
    this.#interrupts.raise();
  }

  /** Kills running programs and releases every lock before this process exits. */
  abandon(): void {
    this.#processes.killNow();
    this.#git.endNow();
    this.#locks.releaseAllNow();
  }

  /** Whether an interactive program uses the terminal, and so gets Ctrl-C. */
  get terminalLent(): boolean {
    return this.#processes.terminalLent;
  }

  /** The first failure to write a result, if there was one. */
  get lostOutput(): Failure | undefined {
    return this.#terminal.lostOutput;
  }

  /** The start of a program, taken from this process. */
  start(argv: string[], env: Record<string, string> = environment()): Start {
    const { stderr, stdout } = process;
    return {
      argv,
      env,
      cwd: this.cwd,
      now_ms: this.nowMs(),
      terminal: {
        stdin: this.#attended,
        stdout: stdout.isTTY === true,
        stderr: stderr.isTTY === true,
        columns: Math.min(stderr.columns || stdout.columns || 80, 65535),
      },
      process: identity(),
      system: systemOf(process.platform),
      role: "embedded",
      random: randomBytes(16).toString("hex"),
    };
  }
}

function environment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  );
}

/** The name that core knows an operating system by. */
function systemOf(platform: NodeJS.Platform): OperatingSystem | null {
  switch (platform) {
    case "linux":
      return "linux";
    case "darwin":
      return "macos";
    case "win32":
      return "windows";
    default:
      return null;
  }
}
