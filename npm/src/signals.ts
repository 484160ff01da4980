/** What a process of Node has to find out about signals in other ways than the native program. */

import { closeSync, constants, openSync } from "node:fs";
import { basename } from "node:path";

/** Whether there is a terminal: it sends its own signals to everybody whom we start in its foreground. */
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
 * Whether `nohup` has started us. That SIGHUP is to be ignored is forgotten by Node before anybody can look;
 * what is left is the variable in which shells write what they start.
 */
export function isUnderNohup(): boolean {
  return basename(process.env["_"] ?? "") === "nohup";
}
