/**
 * Permissions of new files and folders. Private ones are for their owner alone, whatever the umask is.
 * Windows has no permission bits.
 */

import { chmod, type FileHandle, mkdir, stat } from "node:fs/promises";

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** The mode of a new file, before the umask. */
export function fileBits(isPrivate: boolean): number {
  return isPrivate ? PRIVATE_FILE : 0o644;
}

/** Makes an open file private. It may be an older file, or the umask may have cleared owner bits. */
export async function keepPrivate(file: FileHandle): Promise<void> {
  if (process.platform === "win32") return;
  const { mode } = await file.stat();
  if ((mode & 0o777) !== PRIVATE_FILE) await file.chmod(PRIVATE_FILE);
}

/** Creates one folder. */
export async function createFolder(folder: string, isPrivate: boolean): Promise<void> {
  if (!isPrivate) return void (await mkdir(folder));
  await mkdir(folder, { mode: PRIVATE_FOLDER });
  if (process.platform === "win32") return;
  const { mode } = await stat(folder);
  if ((mode & 0o777) !== PRIVATE_FOLDER) await chmod(folder, PRIVATE_FOLDER);
}
