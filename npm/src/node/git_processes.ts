/**
 * Runs git for a request, several commands at once if need be.
 *
 * An interrupt ends all commands of the request. A process that exits at once first asks git to end,
 * because a killed git leaves its locks.
 */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import type { CommandEnd, GitCommand } from "../git_steps.js";
import { Interrupts } from "./interrupts.js";
import { all, processEntry } from "./process_table.js";
import { Running } from "./processes.js";

export type { CommandEnd };

/** How long a process that exits waits for git to remove its locks. */
const LOCKS_GRACE_MS = 500;
const POLL_MS = 5;
/** `Running` has no deadline, log, label or terminal for these programs. */
const PLAIN = { timeout_ms: null, stream_to: null, label: null, interactive: false, wake_on_lines: false };
/** What git says of a failure is longer only where it repeats itself. */
const STDERR_BYTES = 64 * 1024;
/** Longest command line that is shown. */
const SHOWN_CHARS = 200;

export class GitProcesses {
  readonly #interrupts: Interrupts | undefined;
  readonly #running = new Map<Running, number | undefined>();

  /** An interrupt ends the programs; without `interrupts` none does. */
  constructor(interrupts?: Interrupts) {
    this.#interrupts = interrupts;
  }

  /** Runs git to its end; rejects with the system's error when it does not start. */
  async run(command: GitCommand): Promise<CommandEnd> {
    // An interrupt does not end a rollback.
    const interrupts = command.interruptible ? this.#interrupts : undefined;
    if (interrupts?.isPending === true) return { how: "interrupted", waits_for: null };
    const { args, cwd, stdin, limit_bytes: limitBytes } = command;
    const env = { ...process.env };
    for (const name of command.env_remove) delete env[name];
    Object.assign(env, Object.fromEntries(command.env));
    const fed = stdin.length > 0;
    const child = spawn("git", args, {
      cwd,
      env,
      detached: true,
      stdio: [fed ? "pipe" : "ignore", "pipe", "pipe"],
    });
    // Head and tail together hold the whole output up to its limit. The message of a failure is kept, too,
    // if the answer may only be short.
    const eachEnd = Math.ceil(Math.max(limitBytes, STDERR_BYTES) / 2);
    const spec = { ...PLAIN, stdin: fed ? stdin : null, capture_bytes: eachEnd };
    const running = new Running(child, spec, undefined, new Interrupts(), () => undefined, () => undefined);
    let waitsFor: string | null = null;
    const end = (why: "timed_out" | "interrupted"): void => {
      waitsFor ??= child.pid === undefined ? null : waitedForBy(child.pid);
      running.askToEnd(why);
    };
    const timer = setTimeout(() => end("timed_out"), command.timeout_ms);
    const unwatch = interrupts?.watch(() => end("interrupted"));
    this.#running.set(running, child.pid);
    try {
      const turn = await running.follow({ afterMs: null, onInput: undefined });
      if (turn.is !== "process") throw new Error("nothing wakes us");
      const { status, stdout, stderr } = turn;
      if (status === "timed_out" || status === "interrupted") return { how: status, waits_for: waitsFor };
      if (stdout.total_bytes > limitBytes) return { how: "too_large" };
      const exit = "exited" in status ? status.exited : -1;
      return { how: "exited", exit, stdout: joined(stdout), stderr: joined(stderr) };
    } finally {
      clearTimeout(timer);
      unwatch?.();
      this.#running.delete(running);
    }
  }

  /** Clears the interrupt, unless a command of another request has yet to notice it. */
  takeInterrupt(): void {
    if (this.#running.size === 0) this.#interrupts?.take();
  }

  /** Ends running commands before this process exits, and lets them remove their locks. */
  endNow(): void {
    for (const running of this.#running.keys()) {
      running.signal("SIGTERM");
      running.signal("SIGCONT");
    }
    const pids = [...this.#running.values()].filter((pid) => pid !== undefined);
    const isLeft = (pid: number): boolean => processEntry(pid)?.zombie === false;
    const end = performance.now() + LOCKS_GRACE_MS;
    while (pids.some(isLeft) && performance.now() < end) {
      // A synchronous sleep: the process exits afterwards.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
    }
    for (const running of this.#running.keys()) running.signal("SIGKILL");
  }
}

function joined({ head, tail }: { head: Uint8Array; tail: Uint8Array }): Buffer {
  return Buffer.concat([head, tail]);
}

/**
 * The command line that the git process `pid` waits for: its first descendant that is not git. Only
 * Linux tells.
 */
function waitedForBy(pid: number): string | null {
  if (process.platform !== "linux") return null;
  const table = all().filter(([, { zombie }]) => !zombie);
  let found: string[] | undefined;
  for (let above: number | undefined = pid; above !== undefined; ) {
    const children = table.filter(([, { parent }]) => parent === above);
    const [child] = children.sort(newestFirst)[0] ?? [];
    if (child === undefined) break;
    found = wordsOf(child);
    above = /(^|\/)git(-[^/]*)?$/.test(found[0] ?? "") ? child : undefined;
  }
  if (found === undefined || found.length === 0) return null;
  const shown = found.map(withoutUser).join(" ").replace(/[\x00-\x1f\x7f]+/g, " ");
  return shown.length > SHOWN_CHARS ? `${shown.slice(0, SHOWN_CHARS - 1)}…` : shown;
}

function newestFirst(
  [a, { started: whenA }]: [number, { started: string }],
  [b, { started: whenB }]: [number, { started: string }],
): number {
  return Number(whenB) - Number(whenA) || b - a;
}

function wordsOf(pid: number): string[] {
  try {
    // Each word ends with a NUL.
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  } catch {
    return [];
  }
}

/** A word without the user name and password of a URL. */
function withoutUser(word: string): string {
  return word.replace(/^([a-z0-9+.-]+:\/\/)[^/]*@/i, "$1");
}
