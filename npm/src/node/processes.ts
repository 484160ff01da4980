/**
 * Runs programs in process groups of their own, bounded in time and memory.
 *
 * After a timeout or an interrupt the group gets SIGTERM, SIGCONT for stopped processes, and later
 * SIGKILL. When the program has ended, the rest of its group may finish its output for a moment and is
 * then ended as well. So nothing keeps running during a check.
 *
 * A caller may ask to be woken while the program runs. The host still reads its output and enforces its
 * deadline meanwhile, and keeps an interrupt for the next request that waits.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { constants } from "node:os";
import { Failure } from "../failure.js";
import type { Asked, ProcessRequest } from "../host.js";
import type { Command, Outcome, ProcessSpec, ProcessStatus, Shell } from "../vocabulary.js";
import { CaptureBuffer } from "./capture.js";
import { code, failure, is, reason } from "./errors.js";
import { openStream } from "./files.js";
import type { Interrupts } from "./interrupts.js";
import { Log } from "./log.js";
import { boot, processEntry } from "./process_table.js";
import type { Root } from "./root.js";
import type { StatusLine } from "./status_line.js";
import { refuseText } from "./program_file.js";
import { type Started, addDescendants, endGroupOf, endStarted } from "./process_groups.js";
import { after } from "./timer.js";

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;
/** How long output may follow the end of the program, and then the end of its group. */
const LINGER_MS = 200;
/** How long lines are collected before the caller gets them. */
const LINES_BATCH_MS = 50;
/** An unfinished line of this length is delivered as it is. */
const LINE_PART_BYTES = 64 * 1024;
const LINE_BREAK = 10;

/** Shows a warning to the person. */
export type Warn = (message: string) => void;

/** Calls `wake` when standard input has something to read, until the returned function is called. */
export type WatchInput = (wake: () => void) => () => void;

/** Makes the status line of a process that began at `started`. Only a terminal has one. */
export type NewStatusLine = (label: string, started: number) => StatusLine | undefined;

/** What wakes the caller while the program runs. */
interface WakeOptions {
  afterMs: number | null;
  onInput: WatchInput | undefined;
}

export class NodeProcesses {
  readonly #root: Root;
  readonly #interrupts: Interrupts;
  readonly #warn: Warn;
  readonly #watchInput: WatchInput;
  readonly #newStatusLine: NewStatusLine;
  #running: Running | undefined;
  /** Whether the program was left running for a later `wait`. */
  #isLeft = false;

  constructor(
    root: Root,
    interrupts: Interrupts,
    warn: Warn,
    watchInput: WatchInput,
    newStatusLine: NewStatusLine,
  ) {
    this.#watchInput = watchInput;
    this.#newStatusLine = newStatusLine;
    this.#root = root;
    this.#interrupts = interrupts;
    this.#warn = warn;
  }

  /** Whether an interactive program uses the terminal, and so gets Ctrl-C. */
  get terminalLent(): boolean {
    return this.#running?.interactive === true;
  }

  /** Throws while a program is left running. */
  #refuseSecond(): void {
    if (!this.#isLeft) return;
    const why = "another program still runs, and onloop runs one at a time";
    throw new Failure("busy", why);
  }

  async run(spec: ProcessRequest): Promise<Outcome> {
    if ((spec.confine ?? null) !== null) {
      // A program must not run unconfined where the caller expects a sandbox.
      throw new Failure("unsupported", "use the native onloop for that");
    }
    this.#refuseSecond();
    this.#interrupts.check();
    const [program, words] = command(spec.command);
    const env = environment(spec);
    const cwd = this.#root.resolve(spec.cwd);
    const { stream_to: streamTo, secrets = [] } = spec;
    const file = streamTo === null ? undefined : await openStream(this.#root, streamTo, spec.private);
    let log: Log | undefined;
    let running: Running;
    try {
      log = file && new Log(file, secrets);
      refuseText(program, cwd, env);
      const child = spawn(program, words, {
        cwd,
        env,
        detached: !spec.interactive,
        windowsVerbatimArguments: isForCmd(spec.command),
        stdio: spec.interactive
          ? "inherit"
          : [spec.stdin === null ? "ignore" : "pipe", "pipe", "pipe"],
      });
      running = new Running(child, spec, log, this.#interrupts, this.#warn, this.#newStatusLine);
      this.#running = running;
      const { pid } = child;
      if (spec.announce && pid !== undefined) {
        this.#isLeft = true;
        return { is: "started", group: { pid, started: processEntry(pid)?.started ?? "", boot: boot() } };
      }
      return await this.#follow(running, spec);
    } catch (error) {
      this.#running = undefined;
      await (log ?? file)?.close();
      throw spawnFailure(error, program, cwd, spec.cwd);
    }
  }

  /** Waits for the program that was left running. */
  async wait(request: Asked<"wait">): Promise<Outcome> {
    if (!this.#isLeft || this.#running === undefined) {
      throw new Failure("not_found", "no program was left running");
    }
    this.#isLeft = false;
    return this.#follow(this.#running, request);
  }

  async endLeft(): Promise<void> {
    if (!this.#isLeft) return;
    this.#running?.askToEnd("interrupted");
    await this.wait(UNTIL_ITS_END);
  }

  async #follow(
    running: Running,
    wake: Pick<ProcessSpec, "wake_after_ms" | "wake_on_input"> & { activity?: string | null },
  ): Promise<Outcome> {
    const onInput = wake.wake_on_input ? this.#watchInput : undefined;
    const turn = await running.follow({ afterMs: wake.wake_after_ms, onInput }, wake.activity ?? undefined);
    this.#isLeft = turn.is !== "process";
    if (!this.#isLeft) this.#running = undefined;
    return turn;
  }

  /** Kills the running program before this process exits. */
  killNow(): void {
    this.#running?.killNow();
  }
}

/** A wait for the end of the program. */
const UNTIL_ITS_END: Asked<"wait"> = { do: "wait", wake_after_ms: null, wake_on_input: false, activity: null };

/** The program and its arguments. */
export function command(command: Command): [string, string[]] {
  const words = "argv" in command ? command.argv : shellWords(command.shell, command.line);
  const [program, ...rest] = words;
  if (program === undefined || program === "") {
    throw new Failure("invalid", "a command without a program cannot be run");
  }
  if (words.some((word) => word.includes("\0"))) {
    throw new Failure("invalid", "a command with a NUL in it cannot be run");
  }
  return [program, rest];
}

function shellWords(shell: Shell, line: string): string[] {
  switch (shell) {
    case "bash":
      return ["bash", "-c", line];
    case "sh":
      return ["sh", "-c", line];
    case "pwsh":
      return ["pwsh", "-NoProfile", "-Command", line];
    case "cmd":
      // `cmd /S` takes everything between the outer quotes as the line.
      return ["cmd", "/D", "/S", "/C", `"${line}"`];
  }
}

/** `cmd` does not know the quoting that Node adds for C programs. */
function isForCmd(command: Command): boolean {
  return "shell" in command && command.shell === "cmd";
}

/** The environment of a program. */
export function environment({
  env_remove: envRemove,
  env_set: envSet,
}: Pick<ProcessSpec, "env_remove" | "env_set">): NodeJS.ProcessEnv {
  const env = { ...process.env };
  const name = (name: string, value: string): string => {
    if (name === "" || /[=\0]/.test(name) || value.includes("\0")) {
      const shown = name.replaceAll("\0", "\\0");
      throw new Failure("invalid", `\`${shown}\` cannot be set as an environment variable`);
    }
    return name;
  };
  for (const removed of envRemove) delete env[name(removed, "")];
  for (const [set, value] of Object.entries(envSet)) env[name(set, value)] = value;
  return env;
}

/** Why a program could not be started. The system reports a missing folder like a missing program. */
export function spawnFailure(
  error: unknown,
  program: string,
  cwd: string,
  shownCwd: string,
): unknown {
  if (error instanceof Failure || code(error) === undefined) return error;
  const what = `cannot run \`${program}\``;
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return new Failure("invalid", `${what}: its folder \`${shownCwd}\` does not exist`);
  }
  if (is(error, "ENOENT")) {
    const place = program.includes("/") ? "at that path" : "on `PATH`";
    return new Failure("not_found", `${what}: there is no such program ${place}`);
  }
  if (is(error, "ENOEXEC")) {
    const why = "it is neither a program nor a script that begins with `#!`";
    return new Failure("invalid", `${what}: ${why}`);
  }
  return failure(error, what);
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The group has ended, or belongs to another user.
  }
}

/** The parts of a request that matter while the program runs. */
type RunningSpec = Pick<
  ProcessSpec,
  "capture_bytes" | "interactive" | "label" | "stdin" | "stream_to" | "timeout_ms" | "wake_on_lines"
>;

/** A running program, up to the end of everything it started. */
export class Running {
  readonly #child: ChildProcess;
  readonly #spec: RunningSpec;
  readonly #interrupts: Interrupts;
  readonly #warn: Warn;
  readonly #stdout: CaptureBuffer;
  readonly #stderr: CaptureBuffer;
  readonly #started = performance.now();
  readonly #statusLine: StatusLine | undefined;
  readonly #streams: Promise<unknown>;
  /** Resolves when the program has ended, or cannot be ended. */
  readonly #exit: Promise<ProcessStatus>;
  readonly #log: Log | undefined;
  /** Standard output that was not delivered yet, if the caller wants lines. */
  #unread: Uint8Array[] | undefined;
  #unreadBytes = 0;
  #hasLines = false;
  /** Wakes the caller that waits for lines. */
  #wroteLines: () => void = () => undefined;
  #logEnded = false;
  #clearDeadline: () => void = () => undefined;
  /** Why we ended it, if we did. */
  #ended: ProcessStatus | undefined;
  /** Its descendants when we ended it, because tools of agents lead sessions of their own. */
  readonly #descendants: Started = new Map();
  /** Stops waiting for a program that cannot be ended. */
  #giveUp: (why: ProcessStatus) => void = () => undefined;

  constructor(
    child: ChildProcess,
    spec: RunningSpec,
    log: Log | undefined,
    interrupts: Interrupts,
    warn: Warn,
    newStatusLine: NewStatusLine,
  ) {
    this.#child = child;
    this.#spec = spec;
    this.#log = log;
    this.#interrupts = interrupts;
    const { label } = spec;
    const isNamed = label !== null && !spec.interactive;
    this.#statusLine = isNamed ? newStatusLine(label, this.#started) : undefined;
    this.#warn = (message) => {
      this.#statusLine?.hide();
      warn(message);
    };
    this.#stdout = new CaptureBuffer(spec.capture_bytes);
    this.#stderr = new CaptureBuffer(spec.capture_bytes);
    if (spec.wake_on_lines) this.#unread = [];
    this.#streams = Promise.all([
      this.#collect(child.stdout, this.#stdout),
      this.#collect(child.stderr, this.#stderr),
    ]);
    this.#exit = new Promise<ProcessStatus>((resolve, reject) => {
      this.#giveUp = resolve;
      child.on("error", reject);
      child.on("exit", (code, signal) => resolve(exitStatus(code, signal)));
    }).finally(() => this.#clearDeadline());
    // The next `follow` reports a rejection.
    this.#exit.catch(() => undefined);
    // A program may end before it has read all of its input.
    child.stdin?.on("error", () => undefined).end(spec.stdin ?? undefined);
    if (spec.timeout_ms !== null) {
      this.#clearDeadline = after(spec.timeout_ms, () => this.askToEnd("timed_out"));
    }
  }

  get interactive(): boolean {
    return this.#spec.interactive;
  }

  /** Waits until the program ends, or until something wakes the caller. */
  async follow({ afterMs, onInput }: WakeOptions, activity?: string): Promise<Outcome> {
    const interrupt = (): void => {
      if (this.#ended === undefined && this.#interrupts.take()) this.askToEnd("interrupted");
    };
    const unwatch = this.#interrupts.watch(interrupt);
    interrupt();
    let stopAlarm: (() => void) | undefined;
    let batch: NodeJS.Timeout | undefined;
    let unwatchInput: (() => void) | undefined;
    const woken = new Promise<"running">((resolve) => {
      const wake = (): void => resolve("running");
      if (afterMs !== null) stopAlarm = after(afterMs, wake);
      unwatchInput = onInput?.(wake);
      this.#wroteLines = () => {
        batch ??= setTimeout(wake, LINES_BATCH_MS);
      };
      if (this.#hasLines) this.#wroteLines();
    });
    this.#statusLine?.show(activity);
    try {
      const turn = await Promise.race([this.#exit, woken]);
      // A program that was asked to end does so soon.
      if (turn === "running" && this.#ended === undefined) {
        return this.#hasLines ? { is: "lines", bytes: this.#takeLines() } : { is: "running" };
      }
      return await this.#finish(await this.#exit);
    } finally {
      stopAlarm?.();
      clearTimeout(batch);
      this.#wroteLines = () => undefined;
      unwatchInput?.();
      unwatch();
      this.#statusLine?.hide();
    }
  }

  /** Asks the whole group to end, and kills it after the grace period. */
  askToEnd(why: ProcessStatus): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#clearDeadline();
    this.#noteDescendants();
    this.signal("SIGTERM");
    this.signal("SIGCONT");
    this.#clearDeadline = after(GRACE_MS, () => {
      this.#noteDescendants();
      this.signal("SIGKILL");
      // A process in an uninterruptible system call may still be there.
      this.#clearDeadline = after(GRACE_MS, () => this.#giveUp(why));
    });
  }

  /** Kills the program and its descendants at once. */
  killNow(): void {
    this.#noteDescendants();
    this.signal("SIGKILL");
    for (const [pid, started] of this.#descendants) {
      if (processEntry(pid)?.started === started) signalOne(pid, "SIGKILL");
    }
  }

  #noteDescendants(): void {
    const { pid } = this.#child;
    if (pid !== undefined && !this.#spec.interactive) addDescendants(pid, this.#descendants);
  }

  /** Signals the whole group. An interactive program is in our own group, so it is signalled alone. */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    signalOne(this.#spec.interactive || process.platform === "win32" ? pid : -pid, signal);
  }

  async #finish(exit: ProcessStatus): Promise<Outcome> {
    const durationMs = Math.round(performance.now() - this.#started);
    const { stdin, stdout, stderr } = this.#child;
    stdin?.destroy();
    await within(this.#streams, LINGER_MS);
    const { pid } = this.#child;
    if (!this.#spec.interactive && pid !== undefined) {
      await endGroupOf(pid);
      await within(this.#streams, LINGER_MS);
    }
    await endStarted(this.#descendants);
    stdout?.destroy();
    stderr?.destroy();
    this.#writeLog(() => this.#log?.finish());
    this.#logEnded = true;
    await this.#log?.close();
    return {
      is: "process",
      status: this.#ended ?? exit,
      stdout: this.#stdout.finish(),
      stderr: this.#stderr.finish(),
      duration_ms: durationMs,
    };
  }

  #collect(stream: NodeJS.ReadableStream | null, buffer: CaptureBuffer): Promise<void> {
    if (stream === null) return Promise.resolve();
    const log = this.#log?.stream();
    stream.on("data", (bytes: Buffer) => {
      buffer.push(bytes);
      if (buffer === this.#stdout) this.#noteLines(bytes);
      // A caller that reads lines shows them itself.
      if (this.#unread === undefined) this.#statusLine?.output(bytes);
      this.#writeLog(() => log?.(bytes));
    });
    return new Promise((resolve) => {
      stream.on("end", resolve).on("close", resolve).on("error", () => resolve());
    });
  }

  #noteLines(bytes: Uint8Array): void {
    if (this.#unread === undefined) return;
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    this.#hasLines ||= bytes.includes(LINE_BREAK) || this.#unreadBytes >= LINE_PART_BYTES;
    if (this.#hasLines) this.#wroteLines();
  }

  #takeLines(): Uint8Array {
    const lines = Buffer.concat(this.#unread ?? []);
    this.#unread = [];
    this.#unreadBytes = 0;
    this.#hasLines = false;
    return lines;
  }

  /** Writes to the log. After an error the log ends with a warning, and the program continues. */
  #writeLog(write: () => void): void {
    if (this.#logEnded) return;
    try {
      write();
    } catch (error) {
      this.#warn(`the log \`${this.#spec.stream_to}\` ends early: ${reason(error)}`);
      this.#logEnded = true;
    }
  }
}

function exitStatus(code: number | null, signal: NodeJS.Signals | null): ProcessStatus {
  if (signal === null) return { exited: code ?? 0 };
  return { signalled: constants.signals[signal] };
}

/** Waits for `work`, but at most for `ms`. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
