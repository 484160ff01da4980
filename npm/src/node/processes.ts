/**
 * Running other programs: whole process groups, bounded in time and memory.
 *
 * Out of time or interrupted: SIGTERM (and SIGCONT, for what is stopped) to the group, then
 * SIGKILL. After the program itself has ended, what it left running gets a moment to finish its
 * output and is then ended too, so that nothing works on behind the back of a check.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { statSync, writeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { constants } from "node:os";
import { Failure } from "../failure.js";
import type { ProcessEnd, Processes, ProcessSpec, ProcessStatus, Shell } from "../host.js";
import { Keeper } from "./capture.js";
import { code, failure, is, reason } from "./errors.js";
import { openStream } from "./files.js";
import type { Interrupts } from "./interrupts.js";
import type { Root } from "./root.js";

/** Time between asking a process group to end and killing it. */
const GRACE_MS = 2000;
/** How long what outlives its program may still write before it is ended, and once more after. */
const LINGER_MS = 200;

/** Says something that the person should know and that does not change the outcome. */
export type Warn = (message: string) => void;

export class NodeProcesses implements Processes {
  readonly #root: Root;
  readonly #interrupts: Interrupts;
  readonly #warn: Warn;
  #running: Running | undefined;
  /** Whether an interactive program has the terminal, and with it Ctrl-C. */
  terminalLent = false;

  constructor(root: Root, interrupts: Interrupts, warn: Warn) {
    this.#root = root;
    this.#interrupts = interrupts;
    this.#warn = warn;
  }

  async run(spec: ProcessSpec): Promise<ProcessEnd> {
    this.#interrupts.check();
    const [program, words] = command(spec);
    const env = environment(spec);
    const cwd = this.#root.resolve(spec.cwd);
    const log =
      spec.streamTo === undefined ? undefined : await openStream(this.#root, spec.streamTo);
    this.terminalLent = spec.interactive;
    try {
      const running = new Running(spec, log, this.#interrupts, this.#warn);
      this.#running = running;
      return await running.follow(() =>
        spawn(program, words, {
          cwd,
          env,
          detached: !spec.interactive,
          stdio: spec.interactive
            ? "inherit"
            : [spec.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
        }),
      );
    } catch (error) {
      throw spawnFailure(error, program, cwd, spec.cwd);
    } finally {
      this.#running = undefined;
      this.terminalLent = false;
      await log?.close();
    }
  }

  /** Kills what runs, without grace: the process is about to exit. */
  killNow(): void {
    this.#running?.signal("SIGKILL");
  }
}

function command({ command }: ProcessSpec): [string, string[]] {
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
      return ["cmd", "/C", line];
  }
}

function environment({ envRemove, envSet }: ProcessSpec): NodeJS.ProcessEnv {
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
function spawnFailure(error: unknown, program: string, cwd: string, shownCwd: string): unknown {
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

/** One program, from its start to the end of everything it started. */
class Running {
  readonly #spec: ProcessSpec;
  readonly #interrupts: Interrupts;
  readonly #warn: Warn;
  readonly #stdout: Keeper;
  readonly #stderr: Keeper;
  #log: FileHandle | undefined;
  #child: ChildProcess | undefined;
  /** Why we ended it, if we did. */
  #ended: ProcessStatus | undefined;

  constructor(
    spec: ProcessSpec,
    log: FileHandle | undefined,
    interrupts: Interrupts,
    warn: Warn,
  ) {
    this.#spec = spec;
    this.#log = log;
    this.#interrupts = interrupts;
    this.#warn = warn;
    this.#stdout = new Keeper(spec.captureBytes);
    this.#stderr = new Keeper(spec.captureBytes);
  }

  async follow(start: () => ChildProcess): Promise<ProcessEnd> {
    const started = performance.now();
    const child = start();
    this.#child = child;
    const streams = Promise.all([
      this.#collect(child.stdout, this.#stdout),
      this.#collect(child.stderr, this.#stderr),
    ]);
    // A program that does not want all of its input is no failure.
    child.stdin?.on("error", () => undefined).end(this.#spec.stdin);
    const exit = await this.#untilExit(child);
    const durationMs = Math.round(performance.now() - started);
    child.stdin?.destroy();
    await within(streams, LINGER_MS);
    if (!this.#spec.interactive) {
      this.signal("SIGKILL");
      await within(streams, LINGER_MS);
    }
    child.stdout?.destroy();
    child.stderr?.destroy();
    return {
      status: this.#ended ?? exit,
      stdout: this.#stdout.finish(),
      stderr: this.#stderr.finish(),
      durationMs,
    };
  }

  /** To the whole group; an interactive program shares ours and is signalled alone. */
  signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(this.#spec.interactive || process.platform === "win32" ? pid : -pid, signal);
    } catch {
      // A group without members left is what we want; one of another user cannot be helped.
    }
  }

  #untilExit(child: ChildProcess): Promise<ProcessStatus> {
    return new Promise((resolve, reject) => {
      let deadline: NodeJS.Timeout | undefined;
      const end = (why: ProcessStatus): void => {
        if (this.#ended !== undefined) return;
        this.#ended = why;
        clearTimeout(deadline);
        this.signal("SIGTERM");
        this.signal("SIGCONT");
        deadline = setTimeout(() => {
          this.signal("SIGKILL");
          // Only the kernel can still hold it.
          deadline = setTimeout(() => done(() => resolve(why)), GRACE_MS);
        }, GRACE_MS);
      };
      const unwatch = this.#interrupts.watch(() => {
        if (this.#ended === undefined && this.#interrupts.take()) end("interrupted");
      });
      const done = (settle: () => void): void => {
        clearTimeout(deadline);
        unwatch();
        settle();
      };
      const { timeoutMs } = this.#spec;
      if (timeoutMs !== undefined) {
        // Longer timers would fire at once.
        deadline = setTimeout(() => end("timed_out"), Math.min(timeoutMs, 2 ** 31 - 1));
      }
      child.on("error", (error) => done(() => reject(error)));
      child.on("exit", (code, signal) => done(() => resolve(ownEnd(code, signal))));
    });
  }

  #collect(stream: NodeJS.ReadableStream | null, keeper: Keeper): Promise<void> {
    if (stream === null) return Promise.resolve();
    stream.on("data", (bytes: Buffer) => {
      keeper.push(bytes);
      this.#writeLog(bytes);
    });
    return new Promise((resolve) => {
      stream.on("end", resolve).on("close", resolve).on("error", () => resolve());
    });
  }

  /**
   * A log that cannot be written ends early and says so; the program it follows goes on,
   * because its work is worth more than its log.
   */
  #writeLog(bytes: Uint8Array): void {
    if (this.#log === undefined) return;
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#log.fd, bytes, at);
    } catch (error) {
      this.#warn(`the log \`${this.#spec.streamTo}\` ends early: ${reason(error)}`);
      this.#log = undefined;
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
