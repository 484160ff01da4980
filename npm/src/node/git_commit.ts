/** Commits a checkpoint to a branch. */

import { rm } from "node:fs/promises";
import { Failure } from "../failure.js";
import { commit, demandUnlocked, layoutOf } from "./git_checkout.js";
import { demandIntact } from "./git_integrity.js";
import { entriesOf } from "./git_checkpoint.js";
import { bytesOf, terminated } from "./git_paths.js";
import { type GitAsked, type GitProgram, line } from "./git_program.js";

/** Makes the commit, and updates the index of the checkout around `cwd` to it. */
export async function commitKept(git: GitProgram, cwd: string, made: GitAsked<"commit_kept">): Promise<string> {
  const { root } = await layoutOf(git, cwd);
  const branch = `refs/heads/${made.branch}`;
  const found = await commit(git, root, branch);
  if (found !== made.head) {
    const where = `branch \`${made.branch}\` is at ${found ?? "nothing"}`;
    throw new Failure("conflict", `${where}, expected ${made.head}`);
  }
  await demandUnlocked(git, root, [branch]);
  await demandIntact(git, root, made.kept);
  const tree = await treeToCommit(git, root, made);
  const before = line(await git.succeed(root, ["rev-parse", "--verify", `${made.head}^{tree}`]));
  const id = tree === before ? made.head : await commitByUser(git, root, tree, made);
  // The index first. An index behind its branch would look like a reverted commit; one ahead of it is
  // only uncommitted work.
  if ((await git.maybe(root, ["symbolic-ref", "--quiet", "HEAD"])) === branch) {
    await git.succeed(root, ["read-tree", "--reset", id]);
    // It exits with 1 when files differ.
    await git.maybe(root, ["update-index", "-q", "--refresh"]);
  }
  if (id !== made.head) {
    await git.succeed(root, ["update-ref", "-m", "commit: onloop finish", branch, id, made.head]);
  }
  return id;
}

/** The files of the checkpoint, except new files in `without`. */
async function treeToCommit(git: GitProgram, root: string, made: GitAsked<"commit_kept">): Promise<string> {
  const index = `${made.index}.commit`;
  try {
    await git.succeedIsolated(root, ["read-tree", made.kept], { index });
    const { head, without } = made;
    const there = new Set(
      without.length === 0 ? [] : await entriesOf(git, root, ["--name-only", head], without),
    );
    const out = without.map(bytesOf).filter((at) => !there.has(at));
    if (out.length > 0) {
      const input = terminated(out);
      const remove = ["update-index", "--force-remove", "-z", "--stdin"];
      await git.succeedIsolated(root, remove, { index, input });
    }
    return line(await git.succeedIsolated(root, ["write-tree", "--missing-ok"], { index }));
  } finally {
    await rm(index, { force: true });
  }
}

/** Commits as `git commit` does, but without hooks. */
async function commitByUser(
  git: GitProgram,
  root: string,
  tree: string,
  made: GitAsked<"commit_kept">,
): Promise<string> {
  const signs = await git.maybe(root, ["config", "--type=bool", "commit.gpgSign"]);
  const sign = signs === "true" ? "--gpg-sign" : "--no-gpg-sign";
  const words = ["commit-tree", sign, "-p", made.head, "-F", "-", tree];
  return line(await git.succeed(root, words, made.message));
}
