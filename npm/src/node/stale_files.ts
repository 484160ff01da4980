/**
 * Removes temporary files of processes that were killed before they could publish or remove them.
 *
 * The name of a temporary file holds machine, pid namespace, pid, start of the process and a number. The
 * next writer in the folder removes the files of ended processes. Files of another machine or pid
 * namespace stay, because their process may be alive. The native host uses the same names.
 */

import { statSync } from "node:fs";
import { opendir, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isGone } from "./holder.js";
import { identity } from "./process_table.js";

/** Shortest time between two scans of a folder by one process. */
const SCAN_EVERY_MS = 60_000;
/** Most entries of a folder that are scanned, so that writes into large folders stay fast. */
const SCANNED_ENTRIES = 1000;
const NAME = /^\.onloop-(.+)-([0-9]+)-([0-9]*)-[^-]*\.tmp$/;

/** The time of the last scan of each folder. */
const scanned = new Map<string, number>();

let prefix: string | undefined;

/** The name of a new temporary file. */
export function temporaryName(number: number): string {
  prefix ??= ourPrefix();
  // The `n` tells the names from those of a native host in the same process.
  return `${prefix}-n${number}.tmp`;
}

/** Removes temporary files of ended processes from `folder`, as far as that is possible. */
export async function removeStaleFiles(folder: string): Promise<void> {
  if (!isDue(folder)) return;
  const here = machine();
  let left = SCANNED_ENTRIES;
  try {
    for await (const { name } of await opendir(folder)) {
      if (left === 0) return;
      left -= 1;
      const [, owner, pid, started = ""] = NAME.exec(name) ?? [];
      if (owner !== here || pid === undefined) continue;
      if (isGone({ pid: Number(pid), host: "", started })) await unlink(join(folder, name));
    }
  } catch {
    // Another process was faster, or the folder is not ours. The files do no harm.
  }
}

function isDue(folder: string): boolean {
  const now = performance.now();
  for (const [known, at] of scanned) {
    if (now - at >= SCAN_EVERY_MS) scanned.delete(known);
  }
  if (scanned.has(folder)) return false;
  scanned.set(folder, now);
  return true;
}

function ourPrefix(): string {
  const { pid, started } = identity();
  return `.onloop-${machine()}-${pid}-${started}`;
}

/** Machine and pid namespace, such as `box.4026531836`. */
function machine(): string {
  const host = hostname().slice(0, 64).replace(/[^0-9A-Za-z.]/g, "_");
  const namespace = statSync("/proc/self/ns/pid", { throwIfNoEntry: false })?.ino;
  return namespace === undefined ? host : `${host}.${namespace}`;
}
