/**
 * What is left of a process group whose driver was killed.
 *
 * The number of a group belongs to it as long as it has a member, even when its leader is gone. So
 * whoever is in it, and started no earlier than its leader, is what we are looking for; a leader
 * that started at another time has got a number that was free again. Who left the group is found by
 * the mark in the environment that it was started with.
 */

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { Failure } from "../failure.js";
import type { Asked } from "../host.js";
import type { ProcessGroup } from "../vocabulary.js";
import { type Entry, all, boot, lookUp } from "./process_table.js";

/** Time between asking a process group to end and killing it. */
const GRACE_MS = 2000;
/** How often the group is looked at. */
const LOOK_EVERY_MS = 20;
/** Largest pid; beyond it numbers name nothing. */
const PID_MAX = 2 ** 31 - 1;

/** Asks what is left of a group to end, kills it after the grace, and says how many there were. */
export async function endGroup({ group, host, mark }: Asked<"end_group">): Promise<number> {
  refuseOthers(group, host);
  if (group.boot !== "" && group.boot !== boot()) return 0;
  const { ended, left } = await endAll(() => members(group, mark));
  if (left.length === 0) return ended;
  const what = `process group ${group.pid} cannot be ended`;
  throw new Failure("denied", `${what}; these are left: ${left.join(", ")}`);
}

/** A process by its pid, and when it was started. */
export type Started = Map<number, string>;

/** Adds the processes below one, also those that lead a session of their own while their parent lives. */
export function addBelow(top: number, to: Started): void {
  if (process.platform !== "linux") return;
  const table = all();
  const found = new Set([top]);
  // Who is started later often has a larger pid, and then one look is enough.
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const [pid, { parent }] of table) if (found.has(parent)) found.add(pid);
  }
  for (const [pid, { started }] of table) if (pid !== top && found.has(pid)) to.set(pid, started);
}

/** Asks those processes to end that are still the same, and kills them after the grace. */
export async function endStarted(processes: Started): Promise<void> {
  const isLeft = ([pid, started]: [number, string]): boolean => {
    const entry = lookUp(pid);
    return entry !== undefined && !entry.zombie && entry.started === started;
  };
  await endAll(() => [...processes].filter(isLeft).map(([pid]) => pid));
}

/**
 * Asks what a program that has ended has left in its group to end, and kills it after the grace. The number
 * of the group is nobody else's as long as somebody is in it.
 */
export async function endGroupOf(leader: number): Promise<void> {
  if (process.platform === "win32" || !isThere(-leader)) return;
  if (process.platform !== "linux") {
    await endAll(() => (isThere(-leader) ? [-leader] : []));
    return;
  }
  await endAll(() => {
    const table = all();
    // The process that has the number itself now is another one, and so is its group.
    if (table.some(([pid]) => pid === leader)) return [];
    return table.flatMap(([pid, { group, zombie }]) => (group === leader && !zombie ? [pid] : []));
  });
}

/** Whether there is a process, or with a negative number a group, as far as we may signal it. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Asks the processes that `find` finds to end, and kills them after the grace. */
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
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function refuseOthers({ pid, started }: ProcessGroup, host: string): void {
  if (process.platform !== "linux") {
    const what = `this system does not tell who is in process group ${pid}`;
    throw new Failure("unsupported", what);
  }
  if (host !== hostname()) {
    const what = `process group ${pid} is on \`${host}\`, not on this machine`;
    throw new Failure("unsupported", what);
  }
  if (!/^[0-9]+$/.test(started)) {
    const what = `nobody knows when process group ${pid} was started, so it is left`;
    throw new Failure("unsupported", what);
  }
  if (pid <= 1 || pid > PID_MAX || pid === lookUp(process.pid)?.group) {
    throw new Failure("invalid", `process group ${pid} is never ended from here`);
  }
}

function members(group: ProcessGroup, mark: string | null): number[] {
  const leader = lookUp(group.pid);
  const isTaken = leader !== undefined && leader.started !== group.started;
  const own = new Set([process.pid, ...above(process.ppid)]);
  const belongs = ([pid, entry]: [number, Entry]): boolean => {
    if (entry.zombie || BigInt(entry.started) < BigInt(group.started) || own.has(pid)) return false;
    // An interactive program leads no group of its own; it is ended alone.
    if (!isTaken && (pid === group.pid || entry.group === group.pid)) return true;
    return mark !== null && hasMark(pid, mark);
  };
  return all().filter(belongs).map(([pid]) => pid);
}

/** A process and those above it. */
function above(pid: number): number[] {
  const entry = lookUp(pid);
  return entry === undefined || pid === 0 ? [] : [pid, ...above(entry.parent)];
}

/** Whether a process was started with this in its environment, as far as we may see that. */
function hasMark(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark);
  } catch {
    return false;
  }
}

/** Who has ended is what we want; who belongs to another user is noticed in the end. */
function signal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // See above.
  }
}
