/** Who holds a lock: what its file says, and whether that process still exists. */

import type { ProcessRole } from "../vocabulary.js";
import { type Identity, isTaken, lookUp } from "./process_table.js";

export interface Holder extends Identity {
  /** When the lock was taken; for people. */
  at: string;
  /** What the process is; `null`: a command line. */
  role: ProcessRole | null;
}

/** Largest pid; larger numbers name no process. */
const PID_MAX = 2 ** 31 - 1;

/** The line of a lock file. */
export function toLine({ pid, host, started }: Identity, nowMs: number, role: ProcessRole | null): string {
  const at = `${new Date(nowMs).toISOString().slice(0, 19)}+00:00`;
  return `${JSON.stringify({ pid, host, started, at, ...(role && { role }) })}\n`;
}

/** What a lock file says; undefined when it does not name a holder. */
export function parse(text: string): Holder | undefined {
  let value: Partial<Record<keyof Holder, unknown>>;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  const { pid, host, started, at, role } = value ?? {};
  const isPid = typeof pid === "number" && Number.isInteger(pid) && pid > 0 && pid <= PID_MAX;
  if (!isPid || typeof host !== "string" || typeof started !== "string") return undefined;
  return { pid, host, started, at: typeof at === "string" ? at : "", role: roleOf(role) };
}

/** What a newer onloop says and this one does not know is left alone like a server. */
function roleOf(said: unknown): ProcessRole | null {
  if (said === undefined || said === null) return null;
  return said === "embedded" ? said : "server";
}

/** The holder in a message. */
export function shown({ pid, at }: Holder): string {
  // Anybody may have written the file: only characters of a time are repeated.
  const since = at.slice(0, 40).replace(/[^0-9A-Za-z:.+-]/g, "");
  return since === "" ? `process ${pid}` : `process ${pid} since ${since}`;
}

/** Whether the process has provably ended, as far as pids tell on this machine. */
export function isGone({ pid, started }: Identity): boolean {
  if (process.platform === "win32") return false;
  if (!isTaken(pid)) return true;
  const found = lookUp(pid);
  if (found === undefined) return false;
  return found.zombie || (started !== "" && found.started !== started);
}
