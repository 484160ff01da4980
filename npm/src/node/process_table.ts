/** Reads the processes of this machine from `/proc`. */

import { readFileSync, readdirSync } from "node:fs";
import { hostname } from "node:os";
import { Failure } from "../failure.js";
import { is } from "./errors.js";

/** Identifies a process, so that another process can tell whether it still runs. */
export interface Identity {
  pid: number;
  host: string;
  /** In the operating system's own unit; empty where unknown. */
  started: string;
}

export interface Entry {
  /** It has ended, but its parent has not waited for it. */
  zombie: boolean;
  /** The parent process; 0 if it is not visible. */
  parent: number;
  /** Its process group. */
  group: number;
  /** In the operating system's own unit. */
  started: string;
}

/** The identity of this process. */
export function identity(): Identity {
  return { pid: process.pid, host: hostname(), started: processEntry(process.pid)?.started ?? "" };
}

/** The id of this boot of the machine; empty where unknown. */
export function boot(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Every visible process, with its pid. */
export function all(): [pid: number, entry: Entry][] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return pids.flatMap((name) => {
    const entry = processEntry(Number(name));
    return entry === undefined ? [] : [[Number(name), entry] as [number, Entry]];
  });
}

/** Most attempts. A process that ends meanwhile changes the parents of its children. */
const ATTEMPTS = 5;

/** The processes above this one, nearest first. */
export async function ancestors(): Promise<Identity[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const found = readAncestors();
    if (found !== undefined) return found;
  }
  throw new Failure("unsupported", "this system does not tell the parent of a process");
}

/** `undefined` if one of them ended meanwhile, or the system has no `/proc`. */
function readAncestors(): Identity[] | undefined {
  const own = processEntry(process.pid);
  if (own === undefined) return undefined;
  const found: Identity[] = [];
  for (let pid = own.parent; pid !== 0; ) {
    const entry = processEntry(pid);
    if (entry === undefined) {
      // A hidden process, for example of another user, also hides its ancestors.
      return isTaken(pid) ? found : undefined;
    }
    found.push({ pid, host: hostname(), started: entry.started });
    pid = entry.parent;
  }
  return found;
}

/** Whether any process has this pid, zombies included. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process that we may not signal exists.
    return !is(error, "ESRCH");
  }
  return true;
}

/** The entry of a process; `undefined` without such a process or without `/proc`. */
export function processEntry(pid: number): Entry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  return parseStat(stat);
}

/**
 * Fields 3, 4, 5 and 22 of a `stat` line. Field 2, the program's name in parentheses, may contain any
 * character, so the fields are counted from the last closing parenthesis.
 */
export function parseStat(stat: string): Entry | undefined {
  const end = stat.lastIndexOf(")");
  const fields = stat.slice(end + 1).trim().split(/\s+/);
  const [state, parent, group] = fields;
  const started = fields[22 - 3];
  if (end < 0 || state === undefined || started === undefined) return undefined;
  const zombie = state === "Z" || state === "X";
  return { zombie, parent: Number(parent), group: Number(group), started };
}
