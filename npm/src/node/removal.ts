/** Removes folders, whatever rights their owner has left. */

import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { is } from "./errors.js";

/**
 * Removes a folder with everything in it; a missing one is done. Programs make folders read-only, as
 * caches of modules are, so their owner gets the right to change them back first.
 */
export async function removeTree(folder: string): Promise<void> {
  const options = { recursive: true, force: true };
  try {
    await rm(folder, options);
  } catch (error) {
    if (!is(error, "EACCES") && !is(error, "EPERM")) throw error;
    await makeWritable(folder);
    await rm(folder, options);
  }
}

/** Gives the owner all rights to `folder` and to the folders in it. Links are not followed. */
async function makeWritable(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) return;
  // The removal names a folder that stays as it is.
  await chmod(folder, found.mode | 0o700).catch(() => undefined);
  for (const name of await readdir(folder).catch(() => [])) await makeWritable(join(folder, name));
}
