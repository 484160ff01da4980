/** Who holds a lock: what its file says, and whether that process still exists. */

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { is } from "./errors.js";

/** A process, so that another one can tell whether it is still there. */
export interface Identity {
  pid: number;
  host: string;
  /** In the operating system's own unit; empty where unknown. */
  started: string;
}

export interface Holder extends Identity {
  /** When the lock was taken; for people. */
  at: string;
}

/** Largest pid; larger numbers name no process. */
const PID_MAX = 2 ** 31 - 1;

/** This process, as its locks name it. */
export function identity(): Identity {
  return { pid: process.pid, host: hostname(), started: lookUp(process.pid)?.started ?? "" };
}

/** The line of a lock file. */
export function toLine({ pid, host, started }: Identity, nowMs: number): string {
  const at = `${new Date(nowMs).toISOString().slice(0, 19)}+00:00`;
  return `${JSON.stringify({ pid, host, started, at })}\n`;
}

/** What a lock file says; undefined when it does not name a holder. */
export function parse(text: string): Holder | undefined {
  let value: Partial<Record<keyof Holder, unknown>>;
  try {
    value = JSON.parse(text) as typeof value;
  } catch {
    return undefined;
  }
  const { pid, host, started, at } = value ?? {};
  const isPid = typeof pid === "number" && Number.isInteger(pid) && pid > 0 && pid <= PID_MAX;
  if (!isPid || typeof host !== "string" || typeof started !== "string") return undefined;
  return { pid, host, started, at: typeof at === "string" ? at : "" };
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
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (is(error, "ESRCH")) return true;
    // Not permitted to signal it: it exists.
  }
  const found = lookUp(pid);
  if (found === undefined) return false;
  return found.zombie || (started !== "" && found.started !== started);
}

/** Fields 3 and 22 of a `stat` line; nothing where the system has no `/proc`. */
function lookUp(pid: number): { zombie: boolean; started: string } | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  return parseStat(stat);
}

/**
 * Field 2, the program's name in parentheses, may contain anything, so fields are counted from
 * the last closing parenthesis.
 */
export function parseStat(stat: string): { zombie: boolean; started: string } | undefined {
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 1).trim().split(/\s+/);
  const [state, started] = [fields[0], fields[22 - 3]];
  if (end < 0 || state === undefined || started === undefined) return undefined;
  return { zombie: state === "Z" || state === "X", started };
}
