/** Starting git so that it does what we ask and nothing else. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../failure.js";
import type { GitRequest } from "../vocabulary.js";
import { code, failure, is } from "./errors.js";
import { demandNoLinks } from "./git_integrity.js";
import { named } from "./git_trouble.js";
import type { OwnPrograms } from "./own_programs.js";
import { span } from "./status_line.js";

/**
 * What git would start or touch by itself, turned off. Filters and credential helpers stay:
 * without filters a checkout holds the wrong bytes, and a partial clone may have to fetch.
 */
const CONFIG = [
  "core.fsmonitor=false",
  "submodule.recurse=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.detachedHead=false",
];

/** Not a folder, so that there are no hooks. */
const NO_HOOKS = "core.hooksPath=/dev/null";

/**
 * Variables about git that say who the user is, how to reach a server, where repositories are looked
 * for and what configuration the user adds. Every other one that starts with `GIT_` is removed: it
 * could point git at another repository or another index. What we configure ourselves counts more
 * than all of it.
 */
const KEPT = new Set([
  "GIT_ALLOW_PROTOCOL",
  "GIT_ASKPASS",
  "GIT_ATTR_NOSYSTEM",
  "GIT_CEILING_DIRECTORIES",
  "GIT_CONFIG_COUNT",
  "GIT_DISCOVERY_ACROSS_FILESYSTEM",
  "GIT_HTTP_LOW_SPEED_LIMIT",
  "GIT_HTTP_LOW_SPEED_TIME",
  "GIT_HTTP_PROXY_AUTHMETHOD",
  "GIT_HTTP_USER_AGENT",
  "GIT_LFS_SKIP_SMUDGE",
  "GIT_PROTOCOL_FROM_USER",
  "GIT_PROXY_COMMAND",
  "GIT_PROXY_SSL_CAINFO",
  "GIT_PROXY_SSL_CERT",
  "GIT_PROXY_SSL_CERT_PASSWORD_PROTECTED",
  "GIT_PROXY_SSL_KEY",
  "GIT_SSH_VARIANT",
  "GIT_SSL_CERT",
  "GIT_SSL_CERT_PASSWORD_PROTECTED",
  "GIT_SSL_CIPHER_LIST",
  "GIT_SSL_KEY",
  "GIT_SSL_NO_VERIFY",
  "GIT_SSL_VERSION",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_EXEC_PATH",
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "GIT_AUTHOR_NAME",
  "GIT_AUTHOR_EMAIL",
  "GIT_COMMITTER_NAME",
  "GIT_COMMITTER_EMAIL",
  "GIT_SSL_CAINFO",
  "GIT_SSL_CAPATH",
]);

/** Numbered variables, of which each is one setting: see `GIT_CONFIG_COUNT`. */
const KEPT_NUMBERED = /^GIT_CONFIG_(KEY|VALUE)_/;

/** The request of this kind. */
export type GitAsked<Kind extends GitRequest["git"]> = Extract<GitRequest, { git: Kind }>;

/** What git answered. */
export interface Answer {
  exit: number;
  stdout: Buffer;
  stderr: string;
  /** Where it was asked. */
  cwd: string;
  /** What was asked, for people. */
  asked: string;
}

/**
 * What is asked with an index of its own comes out the same whatever the repository configures:
 * what git remembers of a file counts only while size and every time are the same.
 */
const ASIDE_CONFIG = [
  "core.splitIndex=false",
  "core.untrackedCache=false",
  "core.trustctime=true",
  "core.checkStat=default",
  "core.ignoreStat=false",
  "core.safecrlf=false",
  "core.logAllRefUpdates=false",
  "index.sparse=false",
  "index.skipHash=true",
  "i18n.commitEncoding=UTF-8",
];

/** Longest times of one question, of one act, and of one question beside the checkout; as in the limits. */
const QUESTION_TIMEOUT_MS = 5 * 60 * 1000;
const ACT_TIMEOUT_MS = 30 * 60 * 1000;
const ASIDE_TIMEOUT_MS = 5 * 60 * 1000;
/** Largest answer that is read; as in the limits. */
const ANSWER_BYTES = 256 * 1024 * 1024;

/** The oldest git that understands all that it is asked, and how it ends when it does not. */
const OLDEST_MINOR_OF_2 = 36;
export const USAGE_EXIT = 129;

/** How git is asked beside the checkout. */
export interface Aside {
  /** The index instead of the checkout's. */
  index?: string;
  input?: string | Buffer;
  /** Time of a commit that git makes; then it is ours and not the user's. */
  committedMs?: number;
  /** Most bytes that git may answer. */
  limitBytes?: number;
}

/** What is said to git besides the question, and its bounds. */
interface Asked {
  config: readonly string[];
  input?: string | Buffer | undefined;
  env?: NodeJS.ProcessEnv;
  timeoutMs: number;
  limitBytes?: number | undefined;
}

const CALM = [...CONFIG, NO_HOOKS];

/** The git program, which may hang: in a hook, a filter, a remote, a program that knows passwords. */
export class GitProgram {
  readonly #programs: OwnPrograms;
  readonly #longestMs: number;

  /** No command takes longer than `longestMs`, whatever it is. */
  constructor(programs: OwnPrograms, longestMs = Infinity) {
    this.#programs = programs;
    this.#longestMs = longestMs;
  }

  /** The same program, which no interrupt disturbs: for putting right what was interrupted. */
  undisturbed(): GitProgram {
    const longestMs = Math.min(this.#longestMs, QUESTION_TIMEOUT_MS);
    return new GitProgram(this.#programs.undisturbed(), longestMs);
  }

  /** An interrupt came too late for what it was meant for: it is for the next thing that waits. */
  raiseAgain(): void {
    this.#programs.raiseAgain();
  }

  /** Asks git in `cwd` with `input` on its standard input. */
  ask(cwd: string, args: string[], input?: string): Promise<Answer> {
    return this.#perform(cwd, args, { config: CALM, input, timeoutMs: QUESTION_TIMEOUT_MS });
  }

  /** Lets git do something in `cwd` that takes its time. */
  act(cwd: string, args: string[], input?: string | Buffer): Promise<Answer> {
    return this.#perform(cwd, args, { config: CALM, input, timeoutMs: ACT_TIMEOUT_MS });
  }

  /** Asks git in `cwd` about something that the user's hooks may refuse. */
  askWithHooks(cwd: string, args: string[]): Promise<Answer> {
    return this.#perform(cwd, args, { config: CONFIG, timeoutMs: QUESTION_TIMEOUT_MS });
  }

  /** Lets git do something in `cwd` that the user's hooks may refuse. */
  actWithHooks(cwd: string, args: string[]): Promise<Answer> {
    return this.#perform(cwd, args, { config: CONFIG, timeoutMs: ACT_TIMEOUT_MS });
  }

  /**
   * Asks git in `cwd` beside the checkout: with an index of its own and without a network. A named
   * pipe in the place of a `.gitignore` would hold it for good.
   */
  askAside(cwd: string, args: string[], aside: Aside = {}): Promise<Answer> {
    const env: NodeJS.ProcessEnv = { GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "none" };
    if (aside.index !== undefined) {
      env["GIT_INDEX_FILE"] = aside.index;
      env["GIT_INDEX_VERSION"] = "4";
    }
    if (aside.committedMs !== undefined) {
      for (const who of ["AUTHOR", "COMMITTER"]) {
        env[`GIT_${who}_NAME`] = "onloop";
        env[`GIT_${who}_EMAIL`] = "onloop@localhost";
        env[`GIT_${who}_DATE`] = `@${Math.floor(aside.committedMs / 1000)} +0000`;
      }
    }
    const { input, limitBytes } = aside;
    const config = [...CALM, ...ASIDE_CONFIG];
    return this.#perform(cwd, args, { config, input, env, timeoutMs: ASIDE_TIMEOUT_MS, limitBytes });
  }

  /** Standard output of a command that had to succeed. */
  async succeed(cwd: string, args: string[], input?: string): Promise<Buffer> {
    return succeeded(await this.ask(cwd, args, input));
  }

  /** Standard output of a command beside the checkout that had to succeed. */
  async succeedAside(cwd: string, args: string[], aside?: Aside): Promise<Buffer> {
    return succeeded(await this.askAside(cwd, args, aside));
  }

  /** Standard output; undefined where git answers "no": exit code 1 without a message. */
  async maybe(cwd: string, args: string[]): Promise<string | undefined> {
    const answer = await this.ask(cwd, args);
    if (answer.exit === 1) return undefined;
    return line(succeeded(answer));
  }

  /** Refuses a git that is too old, after an answer that makes no sense. */
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

  /** Whether `cwd` is inside a repository. Git's exit code is the same for everything that is wrong. */
  async isInRepository(cwd: string): Promise<boolean> {
    let answer: Answer;
    try {
      answer = await this.ask(cwd, ["rev-parse", "--git-dir"]);
    } catch (error) {
      // Without git it does not matter that there is no repository.
      if (error instanceof Failure && error.kind === "unsupported" && !isBelowRepository(cwd)) return false;
      throw error;
    }
    if (answer.exit === 0) return true;
    if (!answer.stderr.includes("not a git repository")) throw complaint(answer);
    const missing = /not a git repository: (.*)/.exec(answer.stderr)?.[1];
    if (missing === undefined) return false;
    throw new Failure(
      "invalid",
      `the \`.git\` around \`${cwd}\` points to \`${missing}\`, which is not there; ` +
        "`git worktree repair`, run in the main checkout, may fix it",
    );
  }

  async #perform(cwd: string, args: string[], asked: Asked): Promise<Answer> {
    const what = `\`git ${args.join(" ")}\` in \`${cwd}\``;
    demandNoLinks(cwd, args);
    const settings = asked.config.flatMap((setting) => ["-c", setting]);
    const limitBytes = asked.limitBytes ?? ANSWER_BYTES;
    const timeoutMs = Math.min(asked.timeoutMs, this.#longestMs);
    const env = { ...environment(), ...asked.env };
    const words = ["--no-pager", ...settings, ...args];
    const input = Buffer.from(asked.input ?? "");
    const end = await this.#programs
      .run("git", words, { cwd, env, input, timeoutMs, limitBytes })
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

/** Standard output of a command that had to succeed. */
export function succeeded(answer: Answer): Buffer {
  if (answer.exit === 0) return answer.stdout;
  throw complaint(answer);
}

/** An answer of one line, without its line break. */
export function line(output: Buffer): string {
  return output.toString().replace(/\n$/, "");
}

/** The parts of an output that terminates each of them with NUL. */
export function untilNul(output: Buffer): string[] {
  return output
    .toString()
    .split("\0")
    .filter((part) => part !== "");
}

/** Why a command that had to succeed did not. */
export function complaint({ asked, cwd, exit, stderr }: Answer): Failure {
  const trouble = named(stderr, cwd);
  if (trouble !== undefined) return trouble;
  const said = stderr.trimEnd() || "no reason given";
  return new Failure("other", `${asked} ended with ${exit}: ${said}`);
}

function environment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("GIT_") || KEPT.has(name) || KEPT_NUMBERED.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    // Reading must not write: a refreshed index would be a change nobody asked for.
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
    // An agent that writes to the repository could put other content and parents in place.
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null/none",
  };
}
