/**
 * The kernel's advisory lock (`flock`) on an open file. Node has no call for it. The lock belongs to the
 * open file, so a helper program that inherits the file takes it. We hold it until we close the file or
 * end.
 */

import { spawn } from "node:child_process";
import type { FileHandle } from "node:fs/promises";
import { is } from "./errors.js";

export type Sharing = "exclusive" | "shared";

/** The result of an attempt to take the lock. */
export type KernelLock = "taken" | "held" | "unsupported";

const PERL = (sharing: Sharing): string => `use Fcntl ":flock"; use Errno;
open(my $file, "<&=", 3) or exit 2;
exit 0 if flock($file, ${sharing === "shared" ? "LOCK_SH" : "LOCK_EX"} | LOCK_NB);
exit($!{EWOULDBLOCK} ? 1 : 2);`;

/** Programs that lock file descriptor 3, in order of preference. */
const HELPERS: readonly ((sharing: Sharing) => [string, ...string[]])[] = [
  (sharing) => ["flock", sharing === "shared" ? "-s" : "-x", "-n", "3"],
  (sharing) => ["perl", "-e", PERL(sharing)],
];

/** The index of the first helper that is not known to be missing. */
let usable = 0;

/** Tries to lock an open file, without waiting. */
export async function tryLock(
  file: FileHandle,
  sharing: Sharing = "exclusive",
): Promise<KernelLock> {
  if (process.platform === "win32") return "unsupported";
  for (let helper = HELPERS[usable]; helper !== undefined; helper = HELPERS[usable]) {
    const [program, ...words] = helper(sharing);
    const exit = await run(program, words, file.fd);
    if (exit === "missing") usable += 1;
    else return exit === 0 ? "taken" : exit === 1 ? "held" : "unsupported";
  }
  return "unsupported";
}

function run(program: string, words: string[], fd: number): Promise<number | "missing"> {
  return new Promise((resolve, reject) => {
    // In its own session, so that Ctrl-C does not end it halfway.
    const stdio = ["ignore" as const, "ignore" as const, "ignore" as const, fd];
    const child = spawn(program, words, { stdio, detached: true });
    child.on("error", (error) => (is(error, "ENOENT") ? resolve("missing") : reject(error)));
    child.on("exit", (code) => resolve(code ?? 2));
  });
}
