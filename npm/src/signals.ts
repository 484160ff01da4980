/** Facts about signals that Node does not report. */

import { closeSync, constants, openSync } from "node:fs";
import { basename } from "node:path";

/** Whether there is a terminal, which sends its signals to all processes in its foreground. */
export function hasTerminal(): boolean {
  if (process.platform === "win32") return true;
  try {
    closeSync(openSync("/dev/tty", constants.O_RDONLY | constants.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether `nohup` started this process. Node resets the handling of SIGHUP, so only the variable remains
 * in which shells name the program they start.
 */
export function isUnderNohup(): boolean {
  return basename(process.env["_"] ?? "") === "nohup";
}
