import { Failure } from "../failure.js";
import { commit, dirty, layoutOf } from "./git_checkout.js";
import { bytesOf, shown, terminated } from "./git_paths.js";
import { type GitAsked, type GitProgram, succeeded } from "./git_program.js";

const BRINGS_BACK = "`git stash pop` brings back what it did";

/** Stashes tracked and untracked changes of `paths`, relative to the checkout's root. */
export async function stash(git: GitProgram, cwd: string, { message, paths }: GitAsked<"stash">): Promise<void> {
  const { root } = await layoutOf(git, cwd);
  const before = await commit(git, root, "refs/stash");
  const words = ["stash", "push", "--quiet", "--include-untracked", "--message", message];
  const list = ["--pathspec-from-file=-", "--pathspec-file-nul"];
  try {
    succeeded(await git.run(root, [...words, ...list], terminated(paths.map(bytesOf))));
  } catch (error) {
    const now = await commit(git.uninterruptible(), root, "refs/stash").catch(() => undefined);
    if (now === before || !(error instanceof Failure)) throw error;
    // Git makes the stash before it changes files.
    throw new Failure(error.kind, `${error.message}; ${BRINGS_BACK}`);
  }
  if ((await commit(git, root, "refs/stash")) === before) {
    throw new Failure("conflict", `git found nothing to stash in \`${root}\``);
  }
  const left = new Set(await dirty(git, root));
  const missed = paths.find((name) => left.has(name));
  if (missed !== undefined) {
    throw new Failure("conflict", `git could not stash \`${shown(bytesOf(missed))}\` in \`${root}\`; ${BRINGS_BACK}`);
  }
}
