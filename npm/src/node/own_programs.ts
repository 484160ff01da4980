/**
 * Programs that the host starts by itself to answer a request: git.
 *
 * They run through the same code as those that a program asks for, any number at once. Two things
 * differ. An interrupt ends all that work on the same request and is over only when the request is.
 * And where there is no time they are asked to end before they are killed: git that is killed leaves
 * its locks.
 */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Interrupts } from "./interrupts.js";
import { all, lookUp } from "./process_table.js";
import { Running } from "./processes.js";

/** What a program gets and how much it may take. */
export interface OwnSpec {
  cwd: string;
  env: NodeJS.ProcessEnv;
  input: Buffer;
  /** Longest running time; then its whole process group is ended. */
  timeoutMs: number;
  /** Most bytes of each output stream. */
  limitBytes: number;
}

/** How a program came to its end. */
export type OwnEnd =
  | { how: "ended"; exit: number; stdout: Buffer; stderr: Buffer; waitsFor?: undefined }
  | { how: "too_large"; waitsFor?: undefined }
  /** With the program that it was waiting for, if that is known. */
  | { how: "timed_out" | "interrupted"; waitsFor: string | undefined };

/** How long a process that exits at once waits for programs to remove their locks. */
const LOCKS_GRACE_MS = 500;
/** How often their end is looked for meanwhile. */
const LOOK_EVERY_MS = 5;
/** These programs have no deadline, log, label or terminal from `Running`. */
const ALONE = { timeout_ms: null, stream_to: null, label: null, interactive: false, wake_on_lines: false };
/** Longest command line that is shown. */
const SHOWN_CHARS = 200;

export class OwnPrograms {
  readonly #interrupts: Interrupts | undefined;
  readonly #running: Map<Running, number | undefined>;

  /** Programs that `interrupts` disturbs; without it nothing does. */
  constructor(interrupts?: Interrupts, running = new Map<Running, number | undefined>()) {
    this.#interrupts = interrupts;
    this.#running = running;
  }

  /** The same programs, which no interrupt disturbs: for what puts something right. */
  undisturbed(): OwnPrograms {
    return new OwnPrograms(undefined, this.#running);
  }

  /** An interrupt came too late for what it was meant for: it is for the next thing that waits. */
  raiseAgain(): void {
    this.#interrupts?.raise();
  }

  /** Runs a program to its end; rejects with the system's error when it does not start. */
  async run(program: string, words: string[], own: OwnSpec): Promise<OwnEnd> {
    if (this.#interrupts?.isPending === true) {
      this.#takeInterrupt();
      return { how: "interrupted", waitsFor: undefined };
    }
    const { cwd, env, input, timeoutMs, limitBytes } = own;
    const fed = input.length > 0;
    const child = spawn(program, words, {
      cwd,
      env,
      detached: true,
      stdio: [fed ? "pipe" : "ignore", "pipe", "pipe"],
    });
    // Both ends of a stream are kept, and together they are all that may come.
    const spec = { ...ALONE, stdin: fed ? input : null, capture_bytes: Math.ceil(limitBytes / 2) };
    const running = new Running(child, spec, undefined, new Interrupts(), () => undefined, () => undefined);
    let waitsFor: string | undefined;
    let wasInterrupted = false;
    const end = (why: "timed_out" | "interrupted"): void => {
      wasInterrupted ||= why === "interrupted";
      waitsFor ??= child.pid === undefined ? undefined : waitedForBy(child.pid);
      running.askToEnd(why);
    };
    const timer = setTimeout(() => end("timed_out"), timeoutMs);
    const unwatch = this.#interrupts?.watch(() => end("interrupted"));
    this.#running.set(running, child.pid);
    try {
      const turn = await running.follow({ afterMs: null, onInput: undefined });
      if (turn.is !== "process") throw new Error("nothing wakes us");
      const { status, stdout, stderr } = turn;
      if (status === "timed_out" || status === "interrupted") return { how: status, waitsFor };
      if (stdout.total_bytes > limitBytes) return { how: "too_large" };
      const exit = "exited" in status ? status.exited : -1;
      return { how: "ended", exit, stdout: joined(stdout), stderr: joined(stderr) };
    } finally {
      clearTimeout(timer);
      unwatch?.();
      this.#running.delete(running);
      if (wasInterrupted) this.#takeInterrupt();
    }
  }

  /** With the last of those that work on the same request it has done what it is for. */
  #takeInterrupt(): void {
    if (this.#running.size === 0) this.#interrupts?.take();
  }

  /** Ends what runs as quickly as leaves no locks behind: the process is about to exit. */
  endNow(): void {
    for (const running of this.#running.keys()) {
      running.signal("SIGTERM");
      running.signal("SIGCONT");
    }
    const pids = [...this.#running.values()].filter((pid) => pid !== undefined);
    const isLeft = (pid: number): boolean => lookUp(pid)?.zombie === false;
    const end = performance.now() + LOCKS_GRACE_MS;
    while (pids.some(isLeft) && performance.now() < end) {
      // Nothing else may happen here any more.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
    }
    for (const running of this.#running.keys()) running.signal("SIGKILL");
  }
}

function joined({ head, tail }: { head: Uint8Array; tail: Uint8Array }): Buffer {
  return Buffer.concat([head, tail]);
}

/**
 * The program below `pid` that it is waiting for, as it was started: git waits for its own parts, so
 * that the first below them counts which is none. Nothing: nobody tells, or nothing runs below it.
 */
function waitedForBy(pid: number): string | undefined {
  if (process.platform !== "linux") return undefined;
  const table = all().filter(([, { zombie }]) => !zombie);
  let found: string[] | undefined;
  for (let above: number | undefined = pid; above !== undefined; ) {
    const children = table.filter(([, { parent }]) => parent === above);
    const [child] = children.sort(newestFirst)[0] ?? [];
    if (child === undefined) break;
    found = wordsOf(child);
    above = /(^|\/)git(-[^/]*)?$/.test(found[0] ?? "") ? child : undefined;
  }
  if (found === undefined || found.length === 0) return undefined;
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

/** An address without the name and the password in it. */
function withoutUser(word: string): string {
  return word.replace(/^([a-z0-9+.-]+:\/\/)[^/]*@/i, "$1");
}
