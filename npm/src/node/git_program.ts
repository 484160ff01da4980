/** Starting git so that it does what we ask and nothing else. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Failure } from "../failure.js";
import { code, failure, is } from "./errors.js";
import { named, ofAnotherUser } from "./git_trouble.js";

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
 * Variables about git that say who the user is and how to reach a server. Every other one that
 * starts with `GIT_` is removed: it could point git at another repository or another program.
 */
const KEPT = new Set([
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

/** Runs git in `cwd` with `input` on its standard input. */
export function ask(cwd: string, args: string[], input = ""): Promise<Answer> {
  return perform(cwd, [...CONFIG, NO_HOOKS], args, input);
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

/** Longest time for one question beside the checkout; `CHECKPOINT_TIMEOUT_MS` in the limits. */
const ASIDE_TIMEOUT_MS = 5 * 60 * 1000;

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

/**
 * Runs git in `cwd` beside the checkout: with an index of its own, without a network, and not for
 * ever. A named pipe in the place of a `.gitignore` would hold it for good.
 */
export function askAside(cwd: string, args: string[], aside: Aside = {}): Promise<Answer> {
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
  const bounds = { timeoutMs: ASIDE_TIMEOUT_MS, limitBytes: aside.limitBytes ?? Infinity };
  const config = [...CONFIG, NO_HOOKS, ...ASIDE_CONFIG];
  return perform(cwd, config, args, aside.input ?? "", env, bounds);
}

/** Standard output of a command beside the checkout that had to succeed. */
export async function succeedAside(cwd: string, args: string[], aside?: Aside): Promise<Buffer> {
  const answer = await askAside(cwd, args, aside);
  if (answer.exit === 0) return answer.stdout;
  throw complaint(answer);
}

/** Runs git in `cwd` for something that the user's hooks may refuse. */
export function askWithHooks(cwd: string, args: string[]): Promise<Answer> {
  return perform(cwd, CONFIG, args, "");
}

function perform(
  cwd: string,
  config: readonly string[],
  args: string[],
  input: string | Buffer,
  extra: NodeJS.ProcessEnv = {},
  bounds?: { timeoutMs: number; limitBytes: number },
): Promise<Answer> {
  const asked = `\`git ${args.join(" ")}\` in \`${cwd}\``;
  const settings = config.flatMap((setting) => ["-c", setting]);
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void => {
      if (is(error, "ENOENT") && existsSync(cwd)) {
        reject(new Failure("unsupported", "the program `git` is not installed"));
      } else {
        reject(code(error) === undefined ? error : failure(error, `\`${cwd}\``));
      }
    };
    const env = { ...environment(), ...extra };
    const child = spawn("git", ["--no-pager", ...settings, ...args], { cwd, env });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const kill = (why: Failure): void => {
      reject(why);
      child.kill("SIGKILL");
      // What git left behind may hold its pipes open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = bounds && setTimeout(() => {
      const seconds = bounds.timeoutMs / 1000;
      kill(new Failure("other", `${asked} was not done after ${seconds} s`));
    }, bounds.timeoutMs);
    let size = 0;
    child.stdout.on("data", (bytes: Buffer) => {
      size += bytes.length;
      if (bounds !== undefined && size > bounds.limitBytes) {
        kill(new Failure("too_large", `${asked}: more than ${bounds.limitBytes} bytes`));
        return;
      }
      stdout.push(bytes);
    });
    child.stderr.on("data", (bytes: Buffer) => stderr.push(bytes));
    child.on("error", refuse);
    // A program that stops reading early has its own reasons and reports them.
    child.stdin.on("error", () => undefined).end(input);
    child.on("close", (exit, signal) => {
      clearTimeout(timer);
      if (signal === "SIGINT") {
        reject(new Failure("interrupted", `${asked}: interrupted`));
        return;
      }
      const said = Buffer.concat(stderr).toString();
      resolve({ exit: exit ?? -1, stdout: Buffer.concat(stdout), stderr: said, cwd, asked });
    });
  });
}

/** Standard output of a command that had to succeed. */
export async function succeed(cwd: string, args: string[], input?: string): Promise<Buffer> {
  const answer = await ask(cwd, args, input);
  if (answer.exit === 0) return answer.stdout;
  throw complaint(answer);
}

/** Standard output; undefined where git answers "no": exit code 1 without a message. */
export async function maybe(cwd: string, args: string[]): Promise<string | undefined> {
  const answer = await ask(cwd, args);
  if (answer.exit === 1) return undefined;
  if (answer.exit !== 0) throw complaint(answer);
  return line(answer.stdout);
}

/**
 * Whether `cwd` is inside a repository. Told by what git says, in the C locale, because its
 * exit code is the same for everything that is wrong.
 */
export async function isInRepository(cwd: string): Promise<boolean> {
  let answer: Answer;
  try {
    answer = await ask(cwd, ["rev-parse", "--git-dir"]);
  } catch (error) {
    // Without git it does not matter that there is no repository.
    const missing = error instanceof Failure && error.kind === "unsupported";
    if (missing && enclosing(cwd) === undefined) return false;
    throw error;
  }
  if (answer.exit === 0) return true;
  if (answer.stderr.includes("dubious ownership")) {
    const top = enclosing(cwd) ?? cwd;
    throw ofAnotherUser(top);
  }
  if (!answer.stderr.includes("not a git repository")) throw complaint(answer);
  const top = enclosing(cwd);
  if (top === undefined) return false;
  throw new Failure(
    "invalid",
    `\`${join(top, ".git")}\` points to a repository that is not there; ` +
      "`git worktree repair`, run in the main checkout, may fix it",
  );
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

/** The nearest folder that has a `.git`. */
function enclosing(cwd: string): string | undefined {
  for (let at = cwd; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
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
    ([name]) => !name.startsWith("GIT_") || KEPT.has(name),
  );
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    // Reading must not write: a refreshed index would be a change nobody asked for.
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
  };
}
