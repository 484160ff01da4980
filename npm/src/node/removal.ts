/** Removing folders whose permissions forbid it. */

import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { is } from "./errors.js";

/**
 * Removes a folder with everything in it. Tools make read-only folders, as Go does with
 * its module cache; their owner gets the right back first.
 */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true });
  } catch (error) {
    if (!is(error, "EACCES") && !is(error, "EPERM")) throw error;
    await makeWritable(folder);
    await rm(folder, { recursive: true });
  }
}

async function makeWritable(folder: string): Promise<void> {
  const { mode } = await lstat(folder);
  if ((mode & 0o700) !== 0o700) await chmod(folder, (mode & 0o777) | 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
  }
}
