/** The person or program that called: results, notes, questions. */

import { Failure } from "../failure.js";
import type { Asked } from "../host.js";
import type { Outcome } from "../vocabulary.js";
import { failure } from "./errors.js";
import { type Interrupts, interrupted } from "./interrupts.js";
import { after } from "./timer.js";

/** Longest answer; a longer line is cut there, the rest of it is the next answer. */
const ANSWER_BYTES = 64 * 1024;

/** How long what was typed before a question may take to arrive. */
const TYPED_WAIT_MS = 20;
const CTRL_C = 3;

/** Escape sequences, and every control character that is no white space. */
const STYLES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b\x0e-\x1f\x7f]/g;

/** What the standard streams are connected to, and how notes are shown. */
export interface TerminalSettings {
  /** A person can answer questions. */
  attended: boolean;
  /** Notes keep their styles. */
  styled: boolean;
}

/** `NO_COLOR`, `CI` and `TERM=dumb` are taken at their word. */
export function isStyled(onTerminal: boolean, env: Record<string, string | undefined>): boolean {
  const set = (name: string): boolean => (env[name] ?? "") !== "";
  return onTerminal && !set("CI") && !set("NO_COLOR") && env["TERM"] !== "dumb";
}

/** The standard streams of this process. */
export class NodeTerminal {
  readonly #settings: TerminalSettings;
  readonly #interrupts: Interrupts;
  #rest = Buffer.alloc(0);
  #ended = false;
  /** The rest of a line that is too long is being skipped. */
  #skipping = false;
  /**
   * The first failure to write a result. Programs ignore whether output succeeded; the exit code
   * must not. A reader that went away is not a failure: it had enough.
   */
  lostOutput: Failure | undefined;

  constructor(settings: TerminalSettings, interrupts: Interrupts) {
    this.#settings = settings;
    this.#interrupts = interrupts;
  }

  async say(to: "result" | "note", text: string): Promise<void> {
    if (to === "note") return this.note(text);
    try {
      await write(process.stdout, text);
    } catch (error) {
      const lost = failure(error, "cannot write the result");
      if (lost.kind !== "closed") this.lostOutput ??= lost;
      throw lost;
    }
  }

  async note(text: string): Promise<void> {
    const shown = this.#settings.styled ? text : text.replace(STYLES, "");
    try {
      await write(process.stderr, shown);
    } catch (error) {
      throw failure(error, "cannot write a note");
    }
  }

  async ask(question: string): Promise<string> {
    if (!this.#settings.attended) throw nobody();
    this.#interrupts.check();
    await this.#forgetTyped();
    await this.note(question);
    try {
      return await this.#line();
    } catch (error) {
      // The cursor is still behind the question.
      await this.note("\n").catch(() => undefined);
      throw error;
    }
  }

  /**
   * Throws away what was typed before a question. A pipe is left alone: what is in it was not meant
   * for another moment.
   */
  async #forgetTyped(): Promise<void> {
    const { stdin } = process;
    if (!stdin.isTTY) return;
    // What the system keeps comes as soon as somebody listens; a line that was only begun comes in
    // raw mode, where Ctrl-C is a character.
    stdin.setRawMode(true);
    try {
      do {
        this.#rest = Buffer.alloc(0);
        await this.#more(TYPED_WAIT_MS);
        if (this.#rest.includes(CTRL_C)) this.#interrupts.raise();
      } while (this.#rest.length > 0 && !this.#ended);
    } finally {
      this.#rest = Buffer.alloc(0);
      stdin.setRawMode(false);
    }
    this.#interrupts.check();
  }

  async read({ limit_bytes: limitBytes, wait_ms: waitMs, unit }: Asked<"read_input">): Promise<Outcome> {
    const end = waitMs === null ? undefined : performance.now() + waitMs;
    // Even a caller that only wants what has arrived already gives it time to be delivered.
    for (let isFirst = true; ; isFirst = false) {
      const bytes = unit === "bytes" ? this.#takeBytes(limitBytes) : this.#takeLines(limitBytes);
      if (bytes !== undefined) return { is: "input", bytes };
      const leftMs = end === undefined ? undefined : Math.max(0, end - performance.now());
      if (leftMs === 0 && !isFirst) return { is: "no_input" };
      await this.#more(leftMs);
    }
  }

  /** Calls `wake` as soon as there is something to read or the input has ended. */
  watchInput(wake: () => void): () => void {
    if (this.#ended || this.#rest.includes(10)) wake();
    if (this.#ended) return () => undefined;
    return this.#listen(wake, wake);
  }

  #takeLines(limitBytes: number): Uint8Array | undefined {
    const end = this.#skipping ? this.#rest.indexOf(10) : this.#rest.lastIndexOf(10);
    if (end >= 0) {
      const lines = this.#rest.subarray(0, end + 1);
      this.#rest = this.#rest.subarray(end + 1);
      if (this.#endSkipping()) throw tooLong(limitBytes);
      return lines;
    }
    if (this.#skipping || this.#rest.length > limitBytes) {
      this.#skipping = true;
      this.#rest = Buffer.alloc(0);
    }
    if (!this.#ended) return undefined;
    if (this.#endSkipping()) throw tooLong(limitBytes);
    const last = this.#rest;
    this.#rest = Buffer.alloc(0);
    return last;
  }

  #takeBytes(limitBytes: number): Uint8Array | undefined {
    if (this.#rest.length === 0 && !this.#ended) return undefined;
    const bytes = this.#rest.subarray(0, Math.max(1, limitBytes));
    this.#rest = this.#rest.subarray(bytes.length);
    return bytes;
  }

  #endSkipping(): boolean {
    const was = this.#skipping;
    this.#skipping = false;
    return was;
  }

  async #line(): Promise<string> {
    for (;;) {
      const line = this.#takeLine();
      if (line !== undefined) return line;
      if (this.#ended) throw nobody();
      await this.#more();
    }
  }

  #takeLine(): string | undefined {
    const found = this.#rest.indexOf(10);
    let end = found + 1;
    if (found < 0) {
      if (this.#rest.length >= ANSWER_BYTES) end = ANSWER_BYTES;
      else if (this.#ended && this.#rest.length > 0) end = this.#rest.length;
      else return undefined;
    }
    const line = this.#rest.subarray(0, end).toString();
    this.#rest = this.#rest.subarray(end);
    return line.replace(/[\r\n]+$/, "");
  }

  /** Reads more, for `waitMs` at most; between reads standard input does not keep us alive. */
  #more(waitMs?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let stopWaiting = (): void => undefined;
      const stop = (settle: () => void): void => {
        stopWaiting();
        unlisten();
        unwatch();
        settle();
      };
      const failed = (error: Error): void =>
        stop(() => reject(failure(error, "cannot read the answer")));
      const unwatch = this.#interrupts.watch(() => {
        if (this.#interrupts.take()) stop(() => reject(interrupted()));
      });
      const unlisten = this.#listen(() => stop(resolve), failed);
      if (waitMs !== undefined) stopWaiting = after(waitMs, () => stop(resolve));
    });
  }

  /** Collects what arrives on standard input and reports it, until it is stopped. */
  #listen(come: () => void, failed: (error: Error) => void): () => void {
    const { stdin } = process;
    const data = (bytes: Buffer): void => {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      come();
    };
    const end = (): void => {
      this.#ended = true;
      come();
    };
    // A file has neither: it keeps nobody waiting.
    const held = stdin as { ref?(): void; unref?(): void };
    held.ref?.();
    stdin.on("data", data).on("end", end).on("error", failed).resume();
    return () => {
      stdin.off("data", data).off("end", end).off("error", failed).pause();
      // Paused at once, it would be read all the same, and keep a program that has ended.
      held.unref?.();
    };
  }
}

function tooLong(limitBytes: number): Failure {
  return new Failure("too_large", `a line of standard input is longer than ${limitBytes} bytes`);
}

/** The failure of a question that nobody is there to answer. */
function nobody(): Failure {
  return new Failure("closed", "nobody is at the terminal to answer");
}

const guarded = new WeakSet<NodeJS.WriteStream>();

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  // The callback gets the error; without a listener it would end the process as well.
  if (!guarded.has(stream)) {
    guarded.add(stream);
    stream.on("error", () => undefined);
  }
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
