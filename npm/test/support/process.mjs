// The state of processes that are not our children.

import { readFileSync } from "node:fs";

/** Whether a process runs; a zombie has ended. */
export function isAlive(pid) {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
