/** The holder of a lock: the line in the lock file, and whether that process still exists. */

import type { ProcessRole } from "../vocabulary.js";
import { type Identity, isTaken, processEntry } from "./process_table.js";

export interface Holder extends Identity {
  /** The time of the lock, for people. */
  at: string;
  /** The kind of process; `null` is a command line. */
  role: ProcessRole | null;
}

/** Largest pid; larger numbers name no process. */
const PID_MAX = 2 ** 31 - 1;

/** Formats the line of a lock file. */
export function toLine({ pid, host, started }: Identity, nowMs: number, role: ProcessRole | null): string {
  const at = `${new Date(nowMs).toISOString().slice(0, 19)}+00:00`;
  return `${JSON.stringify({ pid, host, started, at, ...(role && { role }) })}\n`;
}

/** Parses the line of a lock file; `undefined` unless it names a holder. */
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

/** Treats an unknown role, which a newer onloop wrote, like a server. */
function roleOf(value: unknown): ProcessRole | null {
  if (value === undefined || value === null) return null;
  return value === "embedded" || value === "background" ? value : "server";
}

/** The holder in a message. */
export function shown({ pid, at }: Holder): string {
  // The file is untrusted, so only the characters of a time are shown.
  const since = at.slice(0, 40).replace(/[^0-9A-Za-z:.+-]/g, "");
  return since === "" ? `process ${pid}` : `process ${pid} since ${since}`;
}

/** Whether the process of this machine has provably ended. */
export function isGone({ pid, started }: Identity): boolean {
  if (process.platform === "win32") return false;
  if (!isTaken(pid)) return true;
  const found = processEntry(pid);
  if (found === undefined) return false;
  return found.zombie || (started !== "" && found.started !== started);
}
