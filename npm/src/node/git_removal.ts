/** Removes the folders of worktrees. */

import { rename, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { failure, is } from "./errors.js";
import { removeTree } from "./removal.js";

const HOME_OF_WORKTREES = ".hotl-worktrees";

/**
 * Removes the folder of a worktree. It is renamed first, so that a killed process never leaves a part
 * of it under its own name. The next removal deletes the rest.
 */
export async function removeFolder(worktree: string): Promise<void> {
  try {
    await rename(worktree, pathDuringRemoval(worktree));
  } catch (error) {
    if (is(error, "ENOENT")) return;
    // A mount point or, on Windows, a folder that is open.
    await removeTree(worktree).catch((error: unknown) => {
      throw failure(error, `\`${worktree}\``);
    });
  }
  await removeRest(worktree);
}

/** Removes the rest of a worktree whose removal was interrupted. */
export async function removeRest(worktree: string): Promise<void> {
  const rest = pathDuringRemoval(worktree);
  await removeTree(rest).catch((error: unknown) => {
    throw failure(error, `\`${rest}\``);
  });
}

/** The path of a worktree during its removal. */
function pathDuringRemoval(worktree: string): string {
  return join(dirname(worktree), `.onloop-removing-${basename(worktree)}`);
}

/** Removes the parent folders of worktrees once they are empty. */
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
