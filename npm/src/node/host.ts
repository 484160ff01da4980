/** The effects of the operating system, through Node. */

import { randomBytes } from "node:crypto";
import type { Failure } from "../failure.js";
import type {
  Changes,
  Clock,
  Files,
  Git,
  Host,
  Locks,
  ProcessTurn,
  Processes,
  Serve,
  Servers,
  Terminal,
} from "../host.js";
import type { Start } from "../vocabulary.js";
import { NodeChanges } from "./changes.js";
import { NodeFiles } from "./files.js";
import { NodeGit } from "./git.js";
import { NodeServers } from "./http.js";
import { Interrupts } from "./interrupts.js";
import { launch } from "./launch.js";
import { NodeLocks } from "./locks.js";
import { withWords } from "./meanwhile.js";
import { ancestors, identity } from "./process_table.js";
import { NodeProcesses } from "./processes.js";
import { Root } from "./root.js";
import { NodeServe } from "./serve.js";
import { endGroup } from "./survivors.js";
import { StatusLine } from "./status_line.js";
import { NodeTerminal, isStyled } from "./terminal.js";

/** How a host differs from the process that it lives in. */
export interface NodeHostOptions {
  /** Absolute; relative paths are below it. Default: the current folder. */
  cwd?: string;
  /** The time at which the clock stands still, in milliseconds since 1970. */
  frozenMs?: number;
  /** Whether the person at standard input may be asked. Default: if it is a terminal. */
  attended?: boolean;
  /**
   * Longest time for one command of git, in milliseconds. Default: 5 minutes for a question, 30 for
   * a checkout, a merge or a push.
   */
  gitTimeoutMs?: number;
}

export class NodeHost implements Host {
  readonly cwd: string;
  readonly files: Files;
  readonly changes: Changes;
  readonly locks: Locks;
  readonly processes: Processes;
  readonly git: Git;
  readonly servers: Servers;
  readonly serve: Serve;
  readonly clock: Clock;
  readonly terminal: Terminal;
  readonly #interrupts = new Interrupts();
  readonly #locks: NodeLocks;
  readonly #processes: NodeProcesses;
  readonly #git: NodeGit;
  readonly #terminal: NodeTerminal;
  readonly #attended: boolean;

  constructor(options: NodeHostOptions = {}) {
    this.cwd = options.cwd ?? process.cwd();
    this.#attended = options.attended ?? process.stdin.isTTY === true;
    const root = new Root(this.cwd);
    const interrupts = this.#interrupts;
    const styled = isStyled(process.stderr.isTTY === true, process.env);
    const terminal = new NodeTerminal({ attended: this.#attended, styled }, interrupts);
    const warn = (message: string): void => {
      terminal.note(`warning: ${message}\n`).catch(() => undefined);
    };
    const statusLine = (label: string, started: number): StatusLine | undefined =>
      styled ? new StatusLine(label, started) : undefined;
    const watchInput = (wake: () => void): (() => void) => terminal.watchInput(wake);
    const children = new NodeProcesses(root, interrupts, warn, watchInput, statusLine);
    this.#locks = new NodeLocks(root, identity(), interrupts);
    this.#processes = children;
    this.#terminal = terminal;
    this.files = new NodeFiles(root, warn);
    this.changes = new NodeChanges(root, interrupts);
    this.locks = this.#locks;
    this.servers = new NodeServers(interrupts);
    this.serve = new NodeServe(interrupts, new NodeChanges(root, interrupts));
    this.terminal = terminal;
    const { frozenMs } = options;
    const git = new NodeGit(root, interrupts, options.gitTimeoutMs);
    this.#git = git;
    // Two runs with the same frozen clock say the same.
    this.git = frozenMs === undefined ? withWords(git, (line) => terminal.note(line), statusLine) : git;
    this.clock = {
      nowMs: () => frozenMs ?? Date.now(),
      sleep: (durationMs) => interrupts.sleep(durationMs),
    };
    // Two runs with the same frozen clock produce the same bytes.
    const timed = (turn: ProcessTurn): ProcessTurn =>
      frozenMs !== undefined && typeof turn === "object" && "durationMs" in turn
        ? { ...turn, durationMs: 0 }
        : turn;
    this.processes = {
      run: async (spec) => timed(await children.run(spec)),
      wait: async (wakeAfterMs, wakeOnInput, activity) =>
        timed(await children.wait(wakeAfterMs, wakeOnInput, activity)),
      endLeft: () => children.endLeft(),
      ancestors,
      endGroup,
      launch: async (argv, waitMs) => {
        children.refuseSecond();
        await launch(interrupts, this.cwd, argv, waitMs);
      },
    };
  }

  /** Interrupts what waits, or the next thing that will: what Ctrl-C does. */
  interrupt(): void {
    this.#interrupts.raise();
  }

  /** Ends what runs and releases every lock, at once: the process is about to exit. */
  abandon(): void {
    this.#processes.killNow();
    this.#git.endNow();
    this.#locks.releaseAllNow();
  }

  /** Whether an interactive program has the terminal, and with it Ctrl-C. */
  get terminalLent(): boolean {
    return this.#processes.terminalLent;
  }

  /** Why a result was not written completely, if one was not. */
  get lostOutput(): Failure | undefined {
    return this.#terminal.lostOutput;
  }

  /** What a program is started with, gathered from this process. */
  start(argv: string[], env: Record<string, string> = environment()): Start {
    const { stderr, stdout } = process;
    return {
      argv,
      env,
      cwd: this.cwd,
      now_ms: this.clock.nowMs(),
      terminal: {
        stdin: this.#attended,
        stdout: stdout.isTTY === true,
        stderr: stderr.isTTY === true,
        columns: Math.min(stderr.columns || stdout.columns || 80, 65535),
      },
      process: identity(),
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
