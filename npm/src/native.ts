/** The native program, where there is one: the same command line, and faster to start. */

import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { hasTerminal, isUnderNohup } from "./signals.js";

/** A native program and what led to it. */
export interface Native {
  path: string;
  /** For people. */
  because: string;
}

/** `ONLOOP_BINARY`, else the program of the package for this platform; empty means neither. */
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

/** A variable that names this very script would start it in an endless loop. */
function isOurselves(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(process.argv[1] ?? "");
  } catch {
    return false;
  }
}

/** What Node starts is hung up again, unless somebody says otherwise in between. */
const IGNORING_HANGUPS = 'trap "" HUP; exec "$0" "$@"';

/** Runs it in our place and returns its exit code. */
export function run({ path }: Native, argv: string[]): Promise<number> {
  const [name, ...words] = argv;
  // The terminal sends its signals to both of us, and the program takes a second one for impatience;
  // what somebody sends to us alone is passed on.
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
