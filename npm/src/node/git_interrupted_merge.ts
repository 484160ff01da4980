/**
 * Merges that a killed process left half done.
 *
 * A note in the git folder exists while a merge changes files. It names the merged commit and what was
 * checked out before. The next merge of the same commit restores the checkout and starts again. A file
 * counts as written by the killed git if its content is that of one of the commits, or its first part.
 */

import { existsSync, lstatSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Failure } from "../failure.js";
import { commit, gitPath, headBranch, layoutOf } from "./git_checkout.js";
import { below, byBytes, fields, lstatIfPresent, readable, shown } from "./git_paths.js";
import { type GitAsked, type GitProgram } from "./git_program.js";
import { locked } from "./git_errors.js";
import { restoreFiles } from "./git_rollback.js";

/** The name of the note in the git folder. */
const NOTE = "onloop-merge";

/** The path of the note. */
export function mergeNote(git: GitProgram, root: string): Promise<string> {
  return gitPath(git, root, NOTE);
}

/** Writes the note before a file changes; `before` is a branch ref or a commit. Returns its path. */
export async function noteMerge(git: GitProgram, root: string, id: string, before: string): Promise<string> {
  const note = await mergeNote(git, root);
  await writeFile(note, `${id}\n${before}\n`);
  return note;
}

/**
 * Restores the checkout that a killed merge of the same commit left. Returns the branch ref or commit
 * that was checked out before it.
 */
export async function recoverMerge(
  git: GitProgram,
  root: string,
  { commit: id, into }: Pick<GitAsked<"merge">, "commit" | "into">,
): Promise<string | undefined> {
  const note = await readFile(await mergeNote(git, root), "utf8").catch(() => "");
  const [merged, before] = note.split("\n");
  if (merged !== id || before === undefined || before === "") return undefined;
  const branch = await headBranch(git, root);
  const here = branch === undefined ? await commit(git, root, "HEAD") : `refs/heads/${branch}`;
  // A person has switched to another branch since, so the checkout is theirs.
  if (branch !== into && here !== before) return undefined;
  await waitForGit(root);
  await removeDeadLocks(git, root, into);
  const head = await commit(git, root, "HEAD");
  if (head === undefined) return before;
  const commits = [head];
  for (const revision of [`refs/heads/${into}`, id, before]) {
    const found = await commit(git, root, revision);
    if (found !== undefined && !commits.includes(found)) commits.push(found);
  }
  const paths = new Set<string>();
  for (const other of commits.slice(1)) {
    const words = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", head, other, "--"];
    for (const path of fields(await git.succeed(root, words))) paths.add(path);
  }
  await demandWrittenByGit(git, root, commits, paths);
  await git.succeed(root, ["read-tree", "--reset", head]);
  await git.maybe(root, ["update-index", "-q", "--refresh"]);
  const tree = await git.succeed(root, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", head]);
  const tracked = new Set(fields(tree));
  const all = [...paths];
  await restoreFiles(git, root, {
    written: all.filter((path) => tracked.has(path)),
    created: all.filter((path) => !tracked.has(path)),
  });
  return before;
}

/** Removes the locks of a killed git. */
async function removeDeadLocks(git: GitProgram, root: string, into: string): Promise<void> {
  const { common } = await layoutOf(git, root);
  const own = ["index.lock", "HEAD.lock"].map((name) => gitPath(git, root, name));
  for (const lock of [...(await Promise.all(own)), join(common, `refs/heads/${into}.lock`)]) {
    if (lstatIfPresent(Buffer.from(lock)) === undefined) continue;
    if (isGitWorkingIn(root)) throw locked(`\`${lock}\``);
    await rm(lock);
  }
}

/** Throws if the content of one of `paths` comes from none of the commits. */
async function demandWrittenByGit(
  git: GitProgram,
  root: string,
  commits: string[],
  paths: Set<string>,
): Promise<void> {
  const index = await gitPath(git, root, `${NOTE}.index`);
  let other = [...paths].filter((path) => lstatIfPresent(below(root, path))?.isFile() === true);
  for (const id of commits) {
    try {
      const differ = await differences(git, root, index, id);
      other = other.filter((path) => differ.has(path));
    } finally {
      await rm(index, { force: true });
    }
  }
  const changed = [];
  for (const path of other) {
    if (!(await isPart(git, root, commits, path))) changed.push(path);
  }
  if (changed.length === 0) return;
  const names = changed.sort(byBytes).map((path) => `\`${shown(path)}\``);
  throw new Failure(
    "conflict",
    `an earlier merge in \`${root}\` did not complete, and ${names.join(", ")} has content that git ` +
      "did not write",
    { text: "move that content away, then run the same command again" },
  );
}

/** Paths whose files differ from the commit; also missing and untracked ones. */
async function differences(git: GitProgram, root: string, index: string, id: string): Promise<Set<string>> {
  await git.succeedIsolated(root, ["read-tree", id], { index });
  const refreshed = await git.queryIsolated(root, ["update-index", "-q", "--refresh"], { index });
  if (refreshed.exit > 1) throw new Failure("other", refreshed.stderr);
  const words = ["diff-files", "--name-only", "-z", "--ignore-submodules=dirty"];
  const tracked = await git.succeedIsolated(root, words, { index });
  const others = await git.succeedIsolated(root, ["ls-files", "--others", "-z"], { index });
  return new Set([...fields(tracked), ...fields(others)]);
}

/** Whether the file is the first part of the file in one of the commits. */
async function isPart(git: GitProgram, root: string, commits: string[], path: string): Promise<boolean> {
  const part = readFileSync(below(root, path));
  for (const id of commits) {
    const answer = await git.query(root, ["cat-file", "--filters", `${id}:${readable(path)}`]);
    if (answer.exit === 0 && answer.stdout.subarray(0, part.length).equals(part)) return true;
  }
  return false;
}

/** How long a git that works in the checkout is waited for, and how often it is looked for. */
const GIT_ENDS_MS = 2_000;
const GIT_LOOK_MS = 50;

/**
 * The git of a killed onloop may still be at work, and it may be about to end: waits for that. Without an
 * end the locks decide, because another git may just be open there.
 */
async function waitForGit(root: string): Promise<void> {
  for (let waited = 0; waited < GIT_ENDS_MS; waited += GIT_LOOK_MS) {
    if (!existsSync("/proc/self/comm") || !isGitWorkingIn(root)) return;
    await setTimeout(GIT_LOOK_MS);
  }
}

/** Whether a git works in the checkout, as far as the system tells. */
function isGitWorkingIn(root: string): boolean {
  if (!existsSync("/proc/self/comm")) return true;
  return readdirSync("/proc").some((pid) => {
    try {
      const process = join("/proc", pid);
      if (!lstatSync(process).isDirectory()) return false;
      if (!readFileSync(join(process, "comm"), "utf8").startsWith("git")) return false;
      const cwd = readlinkSync(join(process, "cwd"));
      return cwd === root || cwd.startsWith(`${root}/`);
    } catch {
      // The process has ended, or belongs to another user.
      return false;
    }
  });
}
