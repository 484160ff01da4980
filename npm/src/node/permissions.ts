/**
 * Who may use what we create. What is private is for its owner alone, whatever the process's mask
 * says. Windows has no permission bits: there the folder decides.
 */

import { chmod, type FileHandle, mkdir, stat } from "node:fs/promises";

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

/** The permissions that a file is created with, before the process's mask. */
export function fileBits(isPrivate: boolean): number {
  return isPrivate ? PRIVATE_FILE : 0o644;
}

/**
 * Makes an open file private: it may have been there before, and the mask may have taken bits
 * from its owner.
 */
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
