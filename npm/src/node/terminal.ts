/** The standard streams: results, notes, questions and input. */

import { statSync } from "node:fs";
import { Failure } from "../failure.js";
import type { Asked } from "../host.js";
import type { Outcome } from "../vocabulary.js";
import { failure } from "./errors.js";
import { type Interrupts, interrupted } from "./interrupts.js";
import { after } from "./timer.js";

/** Longest answer. The rest of a longer line is the next answer. */
const ANSWER_BYTES = 64 * 1024;

/** How long earlier input may take to arrive before a question. */
const TYPED_WAIT_MS = 20;
const CTRL_C = 3;

/** Escape sequences, and control characters except white space. */
const STYLES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b\x0e-\x1f\x7f]/g;

/** How often the size of a watched file is read. */
const LOOK_AT_FILE_MS = 250;

/** A file whose change closes a question. */
export interface WatchedFile {
  path: string;
  sizeBytes: number;
}

/** Whether the file has another size. A file that cannot be read has not changed. */
function hasChanged(file: WatchedFile | undefined): boolean {
  const size = file && statSync(file.path, { throwIfNoEntry: false })?.size;
  return size !== undefined && size !== file?.sizeBytes;
}

/** How questions and notes are shown. */
export interface TerminalSettings {
  /** A person can answer questions. */
  attended: boolean;
  /** Notes keep their styles. */
  styled: boolean;
}

/** Whether notes keep their styles: on a terminal, without `NO_COLOR`, `CI` or `TERM=dumb`. */
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
  /** Whether the rest of a line that is too long is being skipped. */
  #skipping = false;
  /**
   * The first failure to write a result. Programs ignore it, but the exit code shows it. A reader that
   * closed its pipe is not a failure.
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

  /** Asks a question; `undefined`: the size of `watched` is another one. */
  async ask(question: string, watched?: WatchedFile): Promise<string | undefined> {
    if (!this.#settings.attended) throw unattended();
    this.#interrupts.check();
    if (hasChanged(watched)) return undefined;
    await this.#discardTyped();
    await this.note(question);
    try {
      const line = await this.#line(watched);
      if (line === undefined) await this.note("\n");
      return line;
    } catch (error) {
      // The cursor is still behind the question.
      await this.note("\n").catch(() => undefined);
      throw error;
    }
  }

  /** Discards input that a person typed before the question. A pipe keeps its input. */
  async #discardTyped(): Promise<void> {
    const { stdin } = process;
    if (!stdin.isTTY) return;
    // Raw mode also delivers an unfinished line. Ctrl-C is a character then.
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
    // Input that has arrived needs a moment to be delivered, so that even a wait of 0 reads once.
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

  async #line(watched: WatchedFile | undefined): Promise<string | undefined> {
    for (;;) {
      const line = this.#takeLine();
      if (line !== undefined) return line;
      if (this.#ended) throw unattended();
      if (hasChanged(watched)) return undefined;
      await this.#more(watched && LOOK_AT_FILE_MS);
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

  /** Waits for more input, at most for `waitMs`. */
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

  /** Collects input and calls `onInput` for it, until the returned function is called. */
  #listen(onInput: () => void, failed: (error: Error) => void): () => void {
    const { stdin } = process;
    const data = (bytes: Buffer): void => {
      this.#rest = Buffer.concat([this.#rest, bytes]);
      onInput();
    };
    const end = (): void => {
      this.#ended = true;
      onInput();
    };
    // A stream of a file has neither method.
    const handle = stdin as { ref?(): void; unref?(): void };
    handle.ref?.();
    stdin.on("data", data).on("end", end).on("error", failed).resume();
    return () => {
      stdin.off("data", data).off("end", end).off("error", failed).pause();
      // A paused stream may still read, and would keep this process alive.
      handle.unref?.();
    };
  }
}

function tooLong(limitBytes: number): Failure {
  return new Failure("too_large", `a line of standard input is longer than ${limitBytes} bytes`);
}

function unattended(): Failure {
  return new Failure("closed", "there is no person at a terminal to answer");
}

const guarded = new WeakSet<NodeJS.WriteStream>();

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  // The callback gets the error, but without a listener it would end the process as well.
  if (!guarded.has(stream)) {
    guarded.add(stream);
    stream.on("error", () => undefined);
  }
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
