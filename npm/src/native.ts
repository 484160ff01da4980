/** The native program, where there is one: the same command line, and faster to start. */

import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";

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

/** Runs it in our place and returns its exit code. */
export function run({ path }: Native, argv: string[]): Promise<number> {
  const [name, ...words] = argv;
  const child = spawn(path, words, { stdio: "inherit", ...(name !== undefined && { argv0: name }) });
  // The terminal sends its signals to both of us; what somebody sends to us alone is passed on.
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  process.on("SIGINT", () => undefined);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]);
    });
  });
}
