/**
 * Ends the remaining processes of a group whose driver was killed.
 *
 * The system reuses the number of a group only after its last member has ended. So we end the members
 * that started no earlier than the leader. A leader with another start time is a new process with a
 * reused number. Processes that left the group are found by a mark in their environment.
 */

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { Failure } from "../failure.js";
import type { Asked } from "../host.js";
import type { ProcessGroup } from "../vocabulary.js";
import { type Entry, all, boot, processEntry } from "./process_table.js";

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 2000;
const POLL_MS = 20;
/** Largest possible pid. */
const PID_MAX = 2 ** 31 - 1;

/** Ends the remaining processes of a group, and returns their number. */
export async function endGroup({ group, host, mark }: Asked<"end_group">): Promise<number> {
  refuseOthers(group, host);
  if (group.boot !== "" && group.boot !== boot()) return 0;
  const { ended, left } = await endAll(() => members(group, mark));
  if (left.length === 0) return ended;
  const what = `process group ${group.pid} cannot be ended`;
  throw new Failure("denied", `${what}; these are left: ${left.join(", ")}`);
}

/** Start times of processes by pid. */
export type Started = Map<number, string>;

/** Adds the descendants of a process, including leaders of other sessions whose parents still run. */
export function addDescendants(top: number, to: Started): void {
  if (process.platform !== "linux") return;
  const table = all();
  const found = new Set([top]);
  // A child usually has a larger pid than its parent, so that one pass finds all.
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const [pid, { parent }] of table) if (found.has(parent)) found.add(pid);
  }
  for (const [pid, { started }] of table) if (pid !== top && found.has(pid)) to.set(pid, started);
}

/** Ends these processes, unless their pids were reused. */
export async function endStarted(processes: Started): Promise<void> {
  const isLeft = ([pid, started]: [number, string]): boolean => {
    const entry = processEntry(pid);
    return entry !== undefined && !entry.zombie && entry.started === started;
  };
  await endAll(() => [...processes].filter(isLeft).map(([pid]) => pid));
}

/** Ends the rest of the group of a program that has ended. */
export async function endGroupOf(leader: number): Promise<void> {
  if (process.platform === "win32" || !isThere(-leader)) return;
  if (process.platform !== "linux") {
    await endAll(() => (isThere(-leader) ? [-leader] : []));
    return;
  }
  await endAll(() => {
    const table = all();
    // A process with the number of the ended leader leads a new group.
    if (table.some(([pid]) => pid === leader)) return [];
    return table.flatMap(([pid, { group, zombie }]) => (group === leader && !zombie ? [pid] : []));
  });
}

/** Whether a process, or a group for a negative number, exists and may be signalled. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Asks the processes that `find` returns to end, and kills them after the grace period. */
async function endAll(find: () => number[]): Promise<{ ended: number; left: number[] }> {
  const begun = performance.now();
  const asked = new Set<number>();
  for (;;) {
    const left = find();
    const elapsed = performance.now() - begun;
    if (left.length === 0 || elapsed >= 2 * GRACE_MS) return { ended: asked.size, left };
    for (const pid of left) {
      if (elapsed >= GRACE_MS) signal(pid, "SIGKILL");
      if (asked.has(pid)) continue;
      asked.add(pid);
      signal(pid, "SIGTERM");
      signal(pid, "SIGCONT");
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function refuseOthers({ pid, started }: ProcessGroup, host: string): void {
  if (process.platform !== "linux") {
    const what = `this system does not tell the members of process group ${pid}`;
    throw new Failure("unsupported", what);
  }
  if (host !== hostname()) {
    const what = `process group ${pid} is on \`${host}\`, not on this machine`;
    throw new Failure("unsupported", what);
  }
  if (!/^[0-9]+$/.test(started)) {
    const what = `the start time of process group ${pid} is unknown, so it was not ended`;
    throw new Failure("unsupported", what);
  }
  if (pid <= 1 || pid > PID_MAX || pid === processEntry(process.pid)?.group) {
    throw new Failure("invalid", `process group ${pid} is never ended from here`);
  }
}

function members(group: ProcessGroup, mark: string | null): number[] {
  const leader = processEntry(group.pid);
  const isTaken = leader !== undefined && leader.started !== group.started;
  const own = new Set([process.pid, ...above(process.ppid)]);
  const belongs = ([pid, entry]: [number, Entry]): boolean => {
    if (entry.zombie || BigInt(entry.started) < BigInt(group.started) || own.has(pid)) return false;
    // An interactive program is in our group, so it is ended alone.
    if (!isTaken && (pid === group.pid || entry.group === group.pid)) return true;
    return mark !== null && hasMark(pid, mark);
  };
  return all().filter(belongs).map(([pid]) => pid);
}

/** A process and those above it. */
function above(pid: number): number[] {
  const entry = processEntry(pid);
  return entry === undefined || pid === 0 ? [] : [pid, ...above(entry.parent)];
}

/** Whether the environment of a process visibly contains `mark`. */
function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark);
  } catch {
    return false;
  }
}

function signal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to another user and is reported as left.
  }
}
