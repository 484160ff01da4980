/** Publishes files: a finished file appears under its name in one step. */

import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, link, open, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { is } from "./errors.js";
import { removeStaleFiles, temporaryName } from "./stale_files.js";
import { createFolder, fileBits, keepPrivate } from "./permissions.js";

/** The errors of file systems without hard links. */
const NO_HARD_LINKS = ["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];

/** Most names to try, because a name may be taken. */
const NAMES_TRIED = 64;

let next = 0;

/** A file under a temporary name. */
export class Temporary {
  readonly #path: string;
  /** Open for reading and writing. */
  readonly file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.file = file;
  }

  /** An empty file in `folder`, with the owner of the file that it replaces, and its mode unless private. */
  static async create(folder: string, isPrivate: boolean, like?: BigIntStats): Promise<Temporary> {
    // Private until it has the permissions of the file that it replaces.
    const bits = fileBits(isPrivate || like !== undefined);
    await removeStaleFiles(folder);
    for (let tried = 1; ; tried += 1) {
      // Not derived from the final name, which may have the maximal length already.
      const path = join(folder, temporaryName(next));
      next += 1;
      let file: FileHandle;
      try {
        file = await open(path, "wx+", bits);
      } catch (error) {
        if (is(error, "EEXIST") && tried < NAMES_TRIED) continue;
        throw error;
      }
      const temporary = new Temporary(path, file);
      try {
        if (like !== undefined) await resemble(file, isPrivate, like);
        if (isPrivate) await keepPrivate(file);
      } catch (error) {
        await temporary.discard();
        throw error;
      }
      return temporary;
    }
  }

  /** Replaces `target`. */
  async publish(target: string): Promise<void> {
    await rename(this.#path, target);
  }

  /** Appears at `target` if nothing is there. Exactly one of several processes succeeds. */
  async publishNew(target: string): Promise<void> {
    try {
      await link(this.#path, target);
    } catch (error) {
      if (!NO_HARD_LINKS.some((code) => is(error, code))) throw error;
      return this.#takeName(target);
    }
    // A failure leaves a second name, which does no harm.
    await unlink(this.#path).catch(() => undefined);
  }

  /** The same without hard links: an empty file reserves the name and is replaced at once. */
  async #takeName(target: string): Promise<void> {
    const name = await open(target, "wx", fileBits(true));
    try {
      await name.close();
      await rename(this.#path, target);
    } catch (error) {
      await unlink(target).catch(() => undefined);
      throw error;
    }
  }

  /** Closes and removes the file. Errors are ignored, because the caller has an earlier one. */
  async discard(): Promise<void> {
    await this.file.close().catch(() => undefined);
    await unlink(this.#path).catch(() => undefined);
  }
}

/** Copies the owner if that is allowed, and the mode of a file that is not private. */
async function resemble(file: FileHandle, isPrivate: boolean, like: BigIntStats): Promise<void> {
  if (process.platform === "win32") return;
  const ours = await file.stat({ bigint: true });
  if (ours.uid !== like.uid || ours.gid !== like.gid) {
    // Only root may do so. Without it the write still succeeds.
    await file.chown(Number(like.uid), Number(like.gid)).catch(() => undefined);
  }
  if (!isPrivate && ours.mode !== like.mode) await file.chmod(Number(like.mode & 0o777n));
}

/** Creates `folder` and its missing parents; `durable` syncs them. Returns what `syncFolder` does. */
export async function createFolders(
  folder: string,
  durable: boolean,
  isPrivate: boolean,
): Promise<Durability> {
  let names: Durability = "durable";
  const missing: string[] = [];
  for (let at = folder; !(await isFolder(at)); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const at of missing.reverse()) {
    try {
      await createFolder(at, isPrivate);
    } catch (error) {
      // Another process created it, or it is not a folder.
      if (!is(error, "EEXIST")) throw error;
      if (!(await isFolder(at))) throw Object.assign(new Error(at), { code: "ENOTDIR", errno: 0 });
      continue;
    }
    if (durable && (await syncFolder(dirname(at))) === "refused") names = "refused";
  }
  return names;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Whether names in a folder survive a power cut; `refused` if the folder cannot be synced. */
export type Durability = "durable" | "refused";

/** The errors of file systems that cannot sync folders, and of folders that we may write but not read. */
const REFUSALS = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF", "EACCES", "EPERM"];

/** Makes names in `folder` survive a power cut. */
export async function syncFolder(folder: string): Promise<Durability> {
  // Windows cannot open folders to sync them; its file system journals renames.
  if (process.platform === "win32") return "durable";
  try {
    const handle = await open(folder, constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    return "durable";
  } catch (error) {
    if (REFUSALS.some((code) => is(error, code))) return "refused";
    throw error;
  }
}
