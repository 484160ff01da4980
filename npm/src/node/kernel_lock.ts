/**
 * The kernel's advisory lock (`flock`) on an open file. Node has no call for it, but the lock
 * belongs to the open file and not to a process: a small program that inherits the file takes
 * the lock and ends, and we hold it until we close the file or die.
 */

import { spawn } from "node:child_process";
import type { FileHandle } from "node:fs/promises";
import { is } from "./errors.js";

/** Whom a lock keeps out: everybody, or who does not share it. */
export type Sharing = "exclusive" | "shared";

/** What came of trying to take the lock. */
export type KernelLock = "taken" | "held" | "unsupported";

const PERL = (sharing: Sharing): string => `use Fcntl ":flock"; use Errno;
open(my $file, "<&=", 3) or exit 2;
exit 0 if flock($file, ${sharing === "shared" ? "LOCK_SH" : "LOCK_EX"} | LOCK_NB);
exit($!{EWOULDBLOCK} ? 1 : 2);`;

/** Programs that lock file descriptor 3, in the order in which they are tried. */
const HELPERS: readonly ((sharing: Sharing) => [string, ...string[]])[] = [
  (sharing) => ["flock", sharing === "shared" ? "-s" : "-x", "-n", "3"],
  (sharing) => ["perl", "-e", PERL(sharing)],
];

/** The first helper that may be installed. */
let usable = 0;

/** Whether locks can be taken here, found out by trying. */
function hasHelper(): boolean {
  return process.platform !== "win32" && usable < HELPERS.length;
}

/** Tries to lock an open file, without waiting. */
export async function tryLock(
  file: FileHandle,
  sharing: Sharing = "exclusive",
): Promise<KernelLock> {
  while (hasHelper()) {
    const helper = HELPERS[usable];
    if (helper === undefined) break;
    const [program, ...words] = helper(sharing);
    const exit = await run(program, words, file.fd);
    if (exit === "missing") usable += 1;
    else return exit === 0 ? "taken" : exit === 1 ? "held" : "unsupported";
  }
  return "unsupported";
}

function run(program: string, words: string[], fd: number): Promise<number | "missing"> {
  return new Promise((resolve, reject) => {
    // In its own session: a Ctrl-C meant for us must not end it halfway.
    const stdio = ["ignore" as const, "ignore" as const, "ignore" as const, fd];
    const child = spawn(program, words, { stdio, detached: true });
    child.on("error", (error) => (is(error, "ENOENT") ? resolve("missing") : reject(error)));
    child.on("exit", (code) => resolve(code ?? 2));
  });
}
