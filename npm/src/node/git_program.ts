/** Starts git with hardened settings, so that it does what we ask and nothing else. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../failure.js";
import type { GitRequest } from "../vocabulary.js";
import { code, failure, is } from "./errors.js";
import { knownError } from "./git_errors.js";
import { demandNoLinks } from "./git_integrity.js";
import type { GitProcesses } from "./git_processes.js";
import {
  ACT_TIMEOUT_MS,
  ANSWER_BYTES,
  CHECKPOINT_TIMEOUT_MS,
  ENVIRONMENT,
  HARDENED_CONFIG,
  INHERITED_PREFIXES,
  INHERITED_VARIABLES,
  ISOLATED_CONFIG,
  NO_HOOKS,
  QUESTION_TIMEOUT_MS,
} from "./git_settings.js";
import { span } from "./status_line.js";

/** The request of this kind. */
export type GitAsked<Kind extends GitRequest["git"]> = Extract<GitRequest, { git: Kind }>;

/** The result of a git command. */
export interface Answer {
  exit: number;
  stdout: Buffer;
  stderr: string;
  cwd: string;
  /** The command line and folder, for people. */
  asked: string;
}

/** The oldest git that knows all options, and the exit code of git for an unknown option. */
const OLDEST_MINOR_OF_2 = 36;
export const USAGE_EXIT = 129;

/** Options of a command that does not touch the checkout. */
export interface IsolatedOptions {
  /** The index to use instead of the checkout's. */
  index?: string;
  input?: string | Buffer;
  /** Time of a commit, which then has onloop as author instead of the user. */
  committedMs?: number;
  /** Most bytes of output. */
  limitBytes?: number;
  /** Whether paths among the arguments are patterns. */
  isGlob?: boolean;
}

/** Settings, input and bounds of a command. */
interface CommandOptions {
  config: readonly string[];
  input?: string | Buffer | undefined;
  env?: NodeJS.ProcessEnv;
  timeoutMs: number;
  limitBytes?: number | undefined;
}

const WITHOUT_HOOKS = [...HARDENED_CONFIG, NO_HOOKS];

/** The git program. It may hang in a hook, a filter, a remote or a credential helper. */
export class GitProgram {
  readonly #programs: GitProcesses;
  readonly #maxMs: number;

  /** No command runs longer than `maxMs`. */
  constructor(programs: GitProcesses, maxMs = Infinity) {
    this.#programs = programs;
    this.#maxMs = maxMs;
  }

  /** The same program, but interrupts do not end it: for rollbacks. */
  uninterruptible(): GitProgram {
    return new GitProgram(this.#programs.uninterruptible(), Math.min(this.#maxMs, QUESTION_TIMEOUT_MS));
  }

  /** Passes an interrupt that came too late on to the next request that waits. */
  reraiseInterrupt(): void {
    this.#programs.reraiseInterrupt();
  }

  /** Runs a short command in `cwd` with `input` on standard input. */
  query(cwd: string, args: string[], input?: string): Promise<Answer> {
    return this.#perform(cwd, args, { config: WITHOUT_HOOKS, input, timeoutMs: QUESTION_TIMEOUT_MS });
  }

  /** Runs a command in `cwd` that may take long. */
  run(cwd: string, args: string[], input?: string | Buffer): Promise<Answer> {
    return this.#perform(cwd, args, { config: WITHOUT_HOOKS, input, timeoutMs: ACT_TIMEOUT_MS });
  }

  /** Runs a command in `cwd` with the user's hooks. */
  runWithHooks(cwd: string, args: string[]): Promise<Answer> {
    return this.#perform(cwd, args, { config: HARDENED_CONFIG, timeoutMs: ACT_TIMEOUT_MS });
  }

  /**
   * Runs a command in `cwd` that does not touch the checkout: with a separate index and without a
   * network. The timeout ends it where a named pipe stands in place of a `.gitignore`.
   */
  queryIsolated(cwd: string, args: string[], options: IsolatedOptions = {}): Promise<Answer> {
    const { index, input, committedMs, limitBytes, isGlob } = options;
    const env: NodeJS.ProcessEnv = { GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none" };
    if (isGlob === true) {
      env["GIT_LITERAL_PATHSPECS"] = "0";
      env["GIT_GLOB_PATHSPECS"] = "1";
    }
    if (index !== undefined) {
      env["GIT_INDEX_FILE"] = index;
      env["GIT_INDEX_VERSION"] = "4";
    }
    if (committedMs !== undefined) {
      for (const who of ["AUTHOR", "COMMITTER"]) {
        env[`GIT_${who}_NAME`] = "onloop";
        env[`GIT_${who}_EMAIL`] = "onloop@localhost";
        env[`GIT_${who}_DATE`] = `@${Math.floor(committedMs / 1000)} +0000`;
      }
    }
    const config = [...WITHOUT_HOOKS, ...ISOLATED_CONFIG];
    return this.#perform(cwd, args, { config, input, env, timeoutMs: CHECKPOINT_TIMEOUT_MS, limitBytes });
  }

  /** Standard output of a command that has to succeed. */
  async succeed(cwd: string, args: string[], input?: string): Promise<Buffer> {
    return succeeded(await this.query(cwd, args, input));
  }

  /** Standard output of an isolated command that has to succeed. */
  async succeedIsolated(cwd: string, args: string[], options?: IsolatedOptions): Promise<Buffer> {
    return succeeded(await this.queryIsolated(cwd, args, options));
  }

  /** Standard output; `undefined` when git exits with 1, its "no". */
  async maybe(cwd: string, args: string[]): Promise<string | undefined> {
    const answer = await this.query(cwd, args);
    if (answer.exit === 1) return undefined;
    return line(succeeded(answer));
  }

  /** Throws when git is too old; called after output that does not parse. */
  async demandRecent(cwd: string): Promise<void> {
    const said = line(await this.succeed(cwd, ["--version"]));
    const version = /^git version (\d+)\.(\d+)/.exec(said);
    if (version === null) return;
    const [major, minor] = [Number(version[1]), Number(version[2])];
    if (major > 2 || (major === 2 && minor >= OLDEST_MINOR_OF_2)) return;
    throw new Failure(
      "unsupported",
      `${said} is too old: git 2.${OLDEST_MINOR_OF_2} or newer is needed where onloop runs in ` +
        "Node; update git, or use the native program of onloop",
    );
  }

  /** Whether `cwd` is inside a repository. Git has the same exit code for every error. */
  async isInRepository(cwd: string): Promise<boolean> {
    let answer: Answer;
    try {
      answer = await this.query(cwd, ["rev-parse", "--git-dir"]);
    } catch (error) {
      // Outside a repository nothing needs git.
      if (error instanceof Failure && error.kind === "unsupported" && !isBelowRepository(cwd)) return false;
      throw error;
    }
    if (answer.exit === 0) return true;
    if (!answer.stderr.includes("not a git repository")) throw commandFailure(answer);
    const missing = /not a git repository: (.*)/.exec(answer.stderr)?.[1];
    if (missing === undefined) return false;
    throw new Failure(
      "invalid",
      `the \`.git\` around \`${cwd}\` points to \`${missing}\`, which is not there; ` +
        "`git worktree repair`, run in the main checkout, may fix it",
    );
  }

  async #perform(cwd: string, args: string[], options: CommandOptions): Promise<Answer> {
    const what = `\`git ${args.join(" ")}\` in \`${cwd}\``;
    demandNoLinks(cwd, args);
    const settings = options.config.flatMap((setting) => ["-c", setting]);
    const limitBytes = options.limitBytes ?? ANSWER_BYTES;
    const timeoutMs = Math.min(options.timeoutMs, this.#maxMs);
    const env = { ...environment(), ...options.env };
    const words = ["--no-pager", ...settings, ...args];
    const input = Buffer.from(options.input ?? "");
    const end = await this.#programs
      .run(words, { cwd, env, input, timeoutMs, limitBytes })
      .catch((error: unknown) => {
        if (is(error, "ENOENT") && existsSync(cwd)) {
          throw new Failure("unsupported", "the program `git` is not installed");
        }
        throw code(error) === undefined ? error : failure(error, `\`${cwd}\``);
      });
    const waits = end.waitsFor === undefined ? "" : `: it was waiting for \`${end.waitsFor}\``;
    switch (end.how) {
      case "ended":
        return { exit: end.exit, stdout: end.stdout, stderr: String(end.stderr), cwd, asked: what };
      case "too_large":
        throw new Failure("too_large", `${what}: more than ${limitBytes} bytes`);
      case "timed_out":
        throw new Failure("other", `${what} was ended after ${span(timeoutMs)}${waits}`);
      case "interrupted":
        throw new Failure("interrupted", `${what} was interrupted${waits}`);
    }
  }
}

function isBelowRepository(cwd: string): boolean {
  return existsSync(join(cwd, ".git")) || (dirname(cwd) !== cwd && isBelowRepository(dirname(cwd)));
}

/** The exit code of a git that another process killed. */
export const SIGNALLED = -1;

/** Standard output of a command that has to succeed. */
export function succeeded(answer: Answer): Buffer {
  if (answer.exit === 0) return answer.stdout;
  throw commandFailure(answer);
}

/** An output of one line, without its line break. */
export function line(output: Buffer): string {
  return output.toString().replace(/\n$/, "");
}

/** The fields of an output that ends each of them with NUL. */
export function untilNul(output: Buffer): string[] {
  return output
    .toString()
    .split("\0")
    .filter((part) => part !== "");
}

/** The failure of a command that has to succeed. */
export function commandFailure({ asked, cwd, exit, stderr }: Answer): Failure {
  const known = knownError(stderr, cwd);
  if (known !== undefined) return known;
  if (exit === SIGNALLED) return new Failure("unknown", `${asked} was ended by a signal`);
  const said = stderr.trimEnd() || "no reason given";
  return new Failure("other", `${asked} ended with ${exit}: ${said}`);
}

function environment(): NodeJS.ProcessEnv {
  const isInherited = (name: string): boolean =>
    !name.startsWith("GIT_") ||
    INHERITED_VARIABLES.includes(name) ||
    INHERITED_PREFIXES.some((prefix) => name.startsWith(prefix));
  const inherited = Object.entries(process.env).filter(([name]) => isInherited(name));
  return { ...Object.fromEntries(inherited), ...ENVIRONMENT };
}
