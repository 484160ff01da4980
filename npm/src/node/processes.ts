/**
 * Running other programs: whole process groups, bounded in time and memory.
 *
 * Out of time or interrupted: SIGTERM (and SIGCONT, for what is stopped) to the group, then
 * SIGKILL. After the program itself has ended, what it left running gets a moment to finish its
 * output and is then ended too, so that nothing keeps running unnoticed during a check.
 *
 * A caller may ask to be woken while the program runs. Its output is still read and its deadline
 * enforced in between; an interrupt is kept for the next call that waits.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import { constants } from "node:os";
import { Failure } from "../failure.js";
import type { Asked, ProcessRequest } from "../host.js";
import type { Command, Outcome, ProcessSpec, ProcessStatus, Shell } from "../vocabulary.js";
import { Keeper } from "./capture.js";
import { code, failure, is, reason } from "./errors.js";
import { openStream } from "./files.js";
import type { Interrupts } from "./interrupts.js";
import { Log } from "./log.js";
import { boot, lookUp } from "./process_table.js";
import type { Root } from "./root.js";
import type { StatusLine } from "./status_line.js";
import { refuseText } from "./program_file.js";
import { type Started, addBelow, endGroupOf, endStarted } from "./survivors.js";
import { after } from "./timer.js";

/** Time between asking a process group to end and killing it. */
const GRACE_MS = 2000;
/** How long what outlives its program may still write before it is ended, and once more after. */
const LINGER_MS = 200;
/** How long further lines are collected after the first that the caller wants to hear of. */
const LINES_LULL_MS = 50;
/** A part of a line that is handed over although its end has not come. */
const LINE_PART_BYTES = 64 * 1024;
const LINE_BREAK = 10;

/** Warns the person of something that does not change the outcome. */
export type Warn = (message: string) => void;

/** Calls `wake` when standard input has something to read; returns how to stop that. */
export type WatchInput = (wake: () => void) => () => void;

/** The status line of a process of that name, which began at `started`; none where standard error is not a terminal. */
export type NewStatusLine = (label: string, started: number) => StatusLine | undefined;

/** When to stop following a program that still runs. */
interface Alarm {
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

  /** Whether an interactive program has the terminal, and with it Ctrl-C. */
  get terminalLent(): boolean {
    return this.#running?.interactive === true;
  }

  /** There is one program at a time. */
  refuseSecond(): void {
    if (!this.#isLeft) return;
    const why = "another program was left running, and there is only one at a time";
    throw new Failure("busy", why);
  }

  async run(spec: ProcessRequest): Promise<Outcome> {
    if ((spec.confine ?? null) !== null) {
      // A program must not run that only seems to be confined.
      throw new Failure("unsupported", "use the native onloop for that");
    }
    this.refuseSecond();
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
        return { is: "started", group: { pid, started: lookUp(pid)?.started ?? "", boot: boot() } };
      }
      return await this.#follow(running, spec);
    } catch (error) {
      this.#running = undefined;
      await (log ?? file)?.close();
      throw spawnFailure(error, program, cwd, spec.cwd);
    }
  }

  /** Continues to follow the program that was left running. */
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

  /** Kills what runs, without a grace period: the process is about to exit. */
  killNow(): void {
    this.#running?.killNow();
  }
}

/** A wait that nothing but the end of the program ends. */
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
      // Between the outer quotes everything is the line, whatever it quotes itself.
      return ["cmd", "/D", "/S", "/C", `"${line}"`];
  }
}

/** `cmd` reads its line as it is written, and not as programs in C read theirs. */
function isForCmd(command: Command): boolean {
  return "shell" in command && command.shell === "cmd";
}

function environment({ env_remove: envRemove, env_set: envSet }: ProcessSpec): NodeJS.ProcessEnv {
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

/**
 * Why a program could not be started. The system says "not found" for a missing folder as for
 * a missing program; people need to know which.
 */
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
    // A group without members left is what we want; one of another user cannot be helped.
  }
}

/** What counts of a program once it runs. */
type Followed = Pick<
  ProcessSpec,
  "capture_bytes" | "interactive" | "label" | "stdin" | "stream_to" | "timeout_ms" | "wake_on_lines"
>;

/** One program, from its start to the end of everything it started. */
export class Running {
  readonly #child: ChildProcess;
  readonly #spec: Followed;
  readonly #interrupts: Interrupts;
  readonly #warn: Warn;
  readonly #stdout: Keeper;
  readonly #stderr: Keeper;
  readonly #started = performance.now();
  readonly #statusLine: StatusLine | undefined;
  readonly #streams: Promise<unknown>;
  /** Resolves when it has ended, or when nothing can make it end. */
  readonly #exit: Promise<ProcessStatus>;
  readonly #log: Log | undefined;
  /** What the caller has not been handed of standard output, where it wants to hear of lines. */
  #unread: Uint8Array[] | undefined;
  #unreadBytes = 0;
  #hasLines = false;
  /** Wakes the caller that waits for lines. */
  #wroteLines: () => void = () => undefined;
  #logEnded = false;
  /** Forgets when to do what next about its end. */
  #forgetDeadline: () => void = () => undefined;
  /** Why we ended it, if we did. */
  #ended: ProcessStatus | undefined;
  /** Who was below it when we ended it: tools of agents lead sessions of their own. */
  readonly #below: Started = new Map();
  /** Stops waiting for what cannot be made to end. */
  #giveUp: (why: ProcessStatus) => void = () => undefined;

  constructor(
    child: ChildProcess,
    spec: Followed,
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
    this.#stdout = new Keeper(spec.capture_bytes);
    this.#stderr = new Keeper(spec.capture_bytes);
    if (spec.wake_on_lines) this.#unread = [];
    this.#streams = Promise.all([
      this.#collect(child.stdout, this.#stdout),
      this.#collect(child.stderr, this.#stderr),
    ]);
    this.#exit = new Promise<ProcessStatus>((resolve, reject) => {
      this.#giveUp = resolve;
      child.on("error", reject);
      child.on("exit", (code, signal) => resolve(ownEnd(code, signal)));
    }).finally(() => this.#forgetDeadline());
    // A rejection is reported to the next caller that follows the program.
    this.#exit.catch(() => undefined);
    // A program that does not read all of its input is not a failure.
    child.stdin?.on("error", () => undefined).end(spec.stdin ?? undefined);
    if (spec.timeout_ms !== null) {
      this.#forgetDeadline = after(spec.timeout_ms, () => this.askToEnd("timed_out"));
    }
  }

  get interactive(): boolean {
    return this.#spec.interactive;
  }

  /** Follows the program until it ends, or until the caller wants to be woken. */
  async follow({ afterMs, onInput }: Alarm, activity?: string): Promise<Outcome> {
    const interrupt = (): void => {
      if (this.#ended === undefined && this.#interrupts.take()) this.askToEnd("interrupted");
    };
    const unwatch = this.#interrupts.watch(interrupt);
    interrupt();
    let stopAlarm: (() => void) | undefined;
    let lull: NodeJS.Timeout | undefined;
    let unwatchInput: (() => void) | undefined;
    const woken = new Promise<"running">((resolve) => {
      const wake = (): void => resolve("running");
      if (afterMs !== null) stopAlarm = after(afterMs, wake);
      unwatchInput = onInput?.(wake);
      this.#wroteLines = () => {
        lull ??= setTimeout(wake, LINES_LULL_MS);
      };
      if (this.#hasLines) this.#wroteLines();
    });
    this.#statusLine?.show(activity);
    try {
      const turn = await Promise.race([this.#exit, woken]);
      // A program that is being ended will end soon.
      if (turn === "running" && this.#ended === undefined) {
        return this.#hasLines ? { is: "lines", bytes: this.#takeLines() } : { is: "running" };
      }
      return await this.#finish(await this.#exit);
    } finally {
      stopAlarm?.();
      clearTimeout(lull);
      this.#wroteLines = () => undefined;
      unwatchInput?.();
      unwatch();
      this.#statusLine?.hide();
    }
  }

  /** Asks the whole group to end, and kills what does not. */
  askToEnd(why: ProcessStatus): void {
    if (this.#ended !== undefined) return;
    this.#ended = why;
    this.#forgetDeadline();
    this.#noteBelow();
    this.signal("SIGTERM");
    this.signal("SIGCONT");
    this.#forgetDeadline = after(GRACE_MS, () => {
      this.#noteBelow();
      this.signal("SIGKILL");
      // Only the kernel can still hold it.
      this.#forgetDeadline = after(GRACE_MS, () => this.#giveUp(why));
    });
  }

  /** Kills it and the processes below it, without a grace period. */
  killNow(): void {
    this.#noteBelow();
    this.signal("SIGKILL");
    for (const [pid, started] of this.#below) {
      if (lookUp(pid)?.started === started) signalOne(pid, "SIGKILL");
    }
  }

  #noteBelow(): void {
    const { pid } = this.#child;
    if (pid !== undefined && !this.#spec.interactive) addBelow(pid, this.#below);
  }

  /** To the whole group; an interactive program shares ours and is signalled alone. */
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
    await endStarted(this.#below);
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

  #collect(stream: NodeJS.ReadableStream | null, keeper: Keeper): Promise<void> {
    if (stream === null) return Promise.resolve();
    const log = this.#log?.stream();
    stream.on("data", (bytes: Buffer) => {
      keeper.push(bytes);
      if (keeper === this.#stdout) this.#noteLines(bytes);
      // The reader of single lines shows them itself.
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

  /**
   * A log that cannot be written ends early and says so; the program it follows continues,
   * because its work is worth more than its log.
   */
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

function ownEnd(code: number | null, signal: NodeJS.Signals | null): ProcessStatus {
  if (signal === null) return { exited: code ?? 0 };
  return { signalled: constants.signals[signal] };
}

/** Waits for `work`, for `ms` at most. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}
