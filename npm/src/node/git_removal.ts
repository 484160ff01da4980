/** Removing worktrees: as a whole, and nothing besides. */

import { rename, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { failure, is } from "./errors.js";
import { removeTree } from "./removal.js";

const HOME_OF_WORKTREES = ".hotl-worktrees";

/**
 * Removes the folder of a worktree. It is there whole or not at all: under its own name nobody
 * finds a part of it, and what a killed process has left goes with the next.
 */
export async function removeFolder(worktree: string): Promise<void> {
  try {
    await rename(worktree, doomed(worktree));
  } catch (error) {
    if (is(error, "ENOENT")) return;
    // A mount point, or a folder that somebody has open.
    await removeTree(worktree).catch((error: unknown) => {
      throw failure(error, `\`${worktree}\``);
    });
  }
  await removeRest(worktree);
}

/** Removes what is left of a worktree whose removal was broken off. */
export async function removeRest(worktree: string): Promise<void> {
  const rest = doomed(worktree);
  await removeTree(rest).catch((error: unknown) => {
    if (!is(error, "ENOENT")) throw failure(error, `\`${rest}\``);
  });
}

/** What a worktree is called while it is removed. */
function doomed(worktree: string): string {
  return join(dirname(worktree), `.onloop-removing-${basename(worktree)}`);
}

/** Removes the folders that only held worktrees, once the last one has gone. */
export async function removeEmptyAncestors(worktree: string): Promise<void> {
  if (!worktree.split("/").includes(HOME_OF_WORKTREES)) return;
  for (let at = dirname(worktree); ; at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed || basename(at) === HOME_OF_WORKTREES) return;
  }
}
