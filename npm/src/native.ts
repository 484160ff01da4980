/** Finds and runs the native program, which starts faster. */

import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { hasTerminal, isUnderNohup } from "./signals.js";

/** A native program and why it was chosen. */
export interface Native {
  path: string;
  /** For people. */
  because: string;
}

/** The program in `ONLOOP_BINARY`, else that of the package for this platform. An empty variable means none. */
export function find(): Native | undefined {
  const named = process.env["ONLOOP_BINARY"];
  if (named !== undefined) {
    return named === "" || isOurselves(named)
      ? undefined
      : { path: named, because: "named by `ONLOOP_BINARY`" };
  }
  const name = `@onloop/${process.platform}-${process.arch}`;
  const program = process.platform === "win32" ? "onloop.exe" : "onloop";
  try {
    const path = createRequire(import.meta.url).resolve(`${name}/bin/${program}`);
    return { path, because: `from the package \`${name}\`` };
  } catch {
    return undefined;
  }
}

/** Whether `path` is this script, which would start itself in an endless loop. */
function isOurselves(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(process.argv[1] ?? "");
  } catch {
    return false;
  }
}

/** Node resets the handling of SIGHUP in children, so a shell in between ignores it again. */
const IGNORING_HANGUPS = 'trap "" HUP; exec "$0" "$@"';

/** Runs the native program and returns its exit code. */
export function run({ path }: Native, argv: string[]): Promise<number> {
  const [name, ...words] = argv;
  // A terminal signals both processes, and a second signal would kill the program. Other signals reach
  // only this process, so they are passed on.
  const passed: NodeJS.Signals[] = hasTerminal() ? ["SIGTERM"] : ["SIGTERM", "SIGHUP", "SIGINT"];
  let child: ChildProcess | undefined;
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) {
    process.on(signal, () => void (passed.includes(signal) && child?.kill(signal)));
  }
  const started = isUnderNohup()
    ? spawn("sh", ["-c", IGNORING_HANGUPS, path, ...words], { stdio: "inherit" })
    : spawn(path, words, { stdio: "inherit", ...(name !== undefined && { argv0: name }) });
  child = started;
  return new Promise((resolve, reject) => {
    started.on("error", reject);
    started.on("exit", (code, signal) => {
      resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]);
    });
  });
}
