/** Looking at the processes of this machine: who we are, who is still there, who started whom. */

import { readFileSync, readdirSync } from "node:fs";
import { hostname } from "node:os";
import { Failure } from "../failure.js";
import { is } from "./errors.js";

/** A process, so that another one can tell whether it is still there. */
export interface Identity {
  pid: number;
  host: string;
  /** In the operating system's own unit; empty where unknown. */
  started: string;
}

/** A process in the table of the system. */
export interface Entry {
  /** Dead, perhaps not waited for. */
  zombie: boolean;
  /** Who started it, or has adopted it; 0: nobody whom we can see. */
  parent: number;
  /** Its process group. */
  group: number;
  /** In the operating system's own unit. */
  started: string;
}

/** This process, as its locks name it. */
export function identity(): Identity {
  return { pid: process.pid, host: hostname(), started: lookUp(process.pid)?.started ?? "" };
}

/** Names the time since this machine was started; empty where unknown. */
export function boot(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Every process that we can see, with its pid. */
export function all(): [pid: number, entry: Entry][] {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return pids.flatMap((name) => {
    const entry = lookUp(Number(name));
    return entry === undefined ? [] : [[Number(name), entry] as [number, Entry]];
  });
}

/** Looks again when a process on the way up has ended meanwhile: its children have other parents then. */
const LOOKS = 5;

/** The processes above this one, nearest first. */
export async function ancestors(): Promise<Identity[]> {
  for (let look = 0; look < LOOKS; look += 1) {
    const found = lookUpAncestors();
    if (found !== undefined) return found;
  }
  throw new Failure("unsupported", "this system does not tell who started a process");
}

/** Nothing: a process on the way up has ended, or nothing can be seen. */
function lookUpAncestors(): Identity[] | undefined {
  const own = lookUp(process.pid);
  if (own === undefined) return undefined;
  const found: Identity[] = [];
  for (let pid = own.parent; pid !== 0; ) {
    const entry = lookUp(pid);
    if (entry === undefined) {
      // Hidden from us, as processes of other users can be, and with it what is above.
      return isTaken(pid) ? found : undefined;
    }
    found.push({ pid, host: hostname(), started: entry.started });
    pid = entry.parent;
  }
  return found;
}

/** Whether any process has this pid, dead ones that were not waited for included. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Not permitted to signal it: it exists.
    return !is(error, "ESRCH");
  }
  return true;
}

/** What the table says; nothing where there is no such process, or where the system has no `/proc`. */
export function lookUp(pid: number): Entry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  return parseStat(stat);
}

/**
 * Fields 3, 4, 5 and 22 of a `stat` line. Field 2, the program's name in parentheses, may contain
 * anything, so fields are counted from the last closing parenthesis.
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
