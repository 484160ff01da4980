/**
 * Temporary files of processes that were killed before they could publish or remove them.
 *
 * The name of such a file says where and by whom it was made: machine, pid namespace, pid, start of
 * the process, and a number. Whoever writes into a folder next removes those whose process is gone.
 * What was made elsewhere, or in a pid namespace that is not ours, may belong to somebody alive and
 * stays. Both hosts give the same names and follow the same rule.
 */

import { statSync } from "node:fs";
import { opendir, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isGone } from "./holder.js";
import { identity } from "./process_table.js";

/** How often a folder is looked through by one process at most. */
const LOOK_EVERY_MS = 60_000;
/** Entries of a folder that are looked at: a large folder must not make every writer slow. */
const ENTRIES_LOOKED_AT = 1000;
const NAME = /^\.onloop-(.+)-([0-9]+)-([0-9]*)-[^-]*\.tmp$/;

/** When a folder was looked through last. */
const looked = new Map<string, number>();

let prefix: string | undefined;

/** A name for a temporary file of ours. */
export function temporaryName(number: number): string {
  prefix ??= ourPrefix();
  // The native host counts too, and the same process may be home to both.
  return `${prefix}-n${number}.tmp`;
}

/**
 * Removes from `folder` what dead processes have left there. What cannot be removed stays: it is in
 * nobody's way.
 */
export async function removeLeftovers(folder: string): Promise<void> {
  if (!isDue(folder)) return;
  const here = place();
  let left = ENTRIES_LOOKED_AT;
  try {
    for await (const { name } of await opendir(folder)) {
      if (left === 0) return;
      left -= 1;
      const [, where, pid, started = ""] = NAME.exec(name) ?? [];
      if (where !== here || pid === undefined) continue;
      if (isGone({ pid: Number(pid), host: "", started })) await unlink(join(folder, name));
    }
  } catch {
    // Somebody was faster, or may do what we may not.
  }
}

function isDue(folder: string): boolean {
  const now = performance.now();
  for (const [known, at] of looked) {
    if (now - at >= LOOK_EVERY_MS) looked.delete(known);
  }
  if (looked.has(folder)) return false;
  looked.set(folder, now);
  return true;
}

function ourPrefix(): string {
  const { pid, started } = identity();
  return `.onloop-${place()}-${pid}-${started}`;
}

/** Machine and pid namespace, as part of a name: `box.4026531836`. */
function place(): string {
  const host = hostname().slice(0, 64).replace(/[^0-9A-Za-z.]/g, "_");
  const namespace = statSync("/proc/self/ns/pid", { throwIfNoEntry: false })?.ino;
  return namespace === undefined ? host : `${host}.${namespace}`;
}
