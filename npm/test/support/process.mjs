// What became of processes that nobody here has started.

import { readFileSync } from "node:fs";

/** A zombie that nobody waits for has ended. */
export function isAlive(pid) {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
