/** Making a finished file appear under its name in one step. */

import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, link, open, rename, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { is } from "./errors.js";
import { removeLeftovers, temporaryName } from "./leftovers.js";
import { createFolder, fileBits, keepPrivate } from "./permissions.js";

/** What a file system says that has no hard links. */
const NO_HARD_LINKS = ["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];

/** Names tried before giving up: somebody may have put something in the way. */
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

  /**
   * An empty file in `folder`, with the owner of the file it is going to replace, and with its
   * permissions unless it is private.
   */
  static async create(folder: string, isPrivate: boolean, like?: BigIntStats): Promise<Temporary> {
    // Nobody may open it before it has the permissions of what it replaces.
    const bits = fileBits(isPrivate || like !== undefined);
    await removeLeftovers(folder);
    for (let tried = 1; ; tried += 1) {
      // Not derived from the final name, which may already be as long as names can be.
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

  /** Takes the place of whatever is at `target`. */
  async publish(target: string): Promise<void> {
    await rename(this.#path, target);
  }

  /** Appears at `target` if nothing is there; of several that try, exactly one succeeds. */
  async publishNew(target: string): Promise<void> {
    try {
      await link(this.#path, target);
    } catch (error) {
      if (!NO_HARD_LINKS.some((code) => is(error, code))) throw error;
      return this.#takeName(target);
    }
    // It is there; a second name of it is in nobody's way.
    await unlink(this.#path).catch(() => undefined);
  }

  /**
   * The same without hard links: an empty file takes the name from everybody else, and is replaced at
   * once. Node has no call that does both.
   */
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

  /** Closes and removes what was not published. What it was discarded for matters more than how that goes. */
  async discard(): Promise<void> {
    await this.file.close().catch(() => undefined);
    await unlink(this.#path).catch(() => undefined);
  }
}

/** Copies the owner where we are allowed to, and the permissions of what is not private. */
async function resemble(file: FileHandle, isPrivate: boolean, like: BigIntStats): Promise<void> {
  if (process.platform === "win32") return;
  const ours = await file.stat({ bigint: true });
  if (ours.uid !== like.uid || ours.gid !== like.gid) {
    // Only root may give files away; for everybody else the content matters more.
    await file.chown(Number(like.uid), Number(like.gid)).catch(() => undefined);
  }
  if (!isPrivate && ours.mode !== like.mode) await file.chmod(Number(like.mode & 0o777n));
}

/**
 * Creates `folder` and what is missing above it. Durable: their entries survive a power cut. Whether
 * they do, as `syncFolder` tells.
 */
export async function createFolders(
  folder: string,
  durable: boolean,
  isPrivate: boolean,
): Promise<Names> {
  let names: Names = "durable";
  const missing: string[] = [];
  for (let at = folder; !(await isFolder(at)); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const at of missing.reverse()) {
    try {
      await createFolder(at, isPrivate);
    } catch (error) {
      // Another process was faster, or something else is in the way.
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

/** Whether names in a folder survive a power cut; `refused`: the file system does not say so. */
export type Names = "durable" | "refused";

/**
 * What a file system says that cannot sync a folder, as some network and user-space ones, and what is said
 * of a folder that may only be written. There is nothing better to do.
 */
const REFUSALS = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF", "EACCES", "EPERM"];

/** Makes names in `folder` survive a power cut. */
export async function syncFolder(folder: string): Promise<Names> {
  // Folders cannot be opened for syncing there; the file system journals renames.
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
