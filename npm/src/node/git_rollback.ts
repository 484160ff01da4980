/**
 * Changes the files of a checkout completely, or rolls the change back.
 *
 * A git that is killed after a timeout or an interrupt has written some of the files, or all files and
 * the index but not HEAD. The paths are known beforehand, and git refuses to overwrite unsaved content.
 * So the old index and commit suffice to restore everything.
 */

import { open, readFile, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { Failure } from "../failure.js";
import { failure, is } from "./errors.js";
import { commit, demandUnlocked, gitPath, headBranch, layoutOf } from "./git_checkout.js";
import { below, entries, fields, lstatIfPresent, readable, shown, terminated } from "./git_paths.js";
import {
  type Answer,
  type GitAsked,
  type GitProgram,
  SIGNALLED,
  commandFailure,
  succeeded,
} from "./git_program.js";
import { locked, rollbackFailed } from "./git_errors.js";

/** The state of a checkout before git changes files in it. */
interface Before {
  root: string;
  /** The branch at HEAD and its commit. */
  head: string;
  /** The path of its index, and the content. */
  index: string;
  indexed: Buffer | undefined;
  /** Existing files that git may write or remove. */
  written: Set<string>;
  /** Files that git may create. */
  created: Set<string>;
  /** Files outside the index that git would overwrite. */
  untracked: string[];
}

/** Switches to a branch, and creates it on request. */
export async function switchTo(git: GitProgram, cwd: string, { branch, create }: GitAsked<"switch">): Promise<void> {
  if (create) await checkOut(git, cwd, ["--create", branch]);
  else await checkOut(git, cwd, [branch], `refs/heads/${branch}`);
}

/** Runs `git switch` with `words`. Files change only with `revision`, to those of that commit. */
export async function checkOut(
  git: GitProgram,
  cwd: string,
  words: string[],
  revision?: string,
): Promise<void> {
  const options = ["--quiet", "--no-guess", "--no-recurse-submodules"];
  await demandUnlocked(git, cwd, ["HEAD"]);
  const all = ["switch", ...options, ...words];
  const target = revision && (await commit(git, cwd, revision));
  if (target === undefined) {
    succeeded(await git.run(cwd, all));
    return;
  }
  const { root } = await layoutOf(git, cwd);
  succeeded(await changeFiles(git, root, all, target));
}

/**
 * Lets git change the files of the checkout at `root` to those of a commit, or of a merge with it. If
 * git is killed, everything is restored. HEAD moves last, so a moved HEAD means that git was done.
 */
export async function changeFiles(
  git: GitProgram,
  root: string,
  words: string[],
  id: string,
): Promise<Answer> {
  const before = await stateBefore(git, root, id);
  await demandNothingOverwritten(git, root, id, before.untracked);
  try {
    const answer = await git.run(root, words);
    if (answer.exit !== SIGNALLED) return answer;
    throw commandFailure(answer);
  } catch (error) {
    // These kinds mean that we or another process ended git.
    const wasKilled = error instanceof Failure && ["interrupted", "unknown", "other"].includes(error.kind);
    if (!wasKilled) throw error;
    const uninterruptible = git.uninterruptible();
    const head = await headOf(uninterruptible, root).catch(() => before.head);
    if (head !== before.head) {
      if (error.kind === "interrupted") git.reraiseInterrupt();
      return done(root);
    }
    throw await rollBack(uninterruptible, before).then(
      () => error,
      (why: unknown) => (why instanceof Failure ? rollbackFailed(error, root, why) : why),
    );
  }
}

/** Throws rather than let git overwrite untracked files; of ignored ones it would not even say so. */
async function demandNothingOverwritten(
  git: GitProgram,
  root: string,
  id: string,
  untracked: string[],
): Promise<void> {
  const names = [];
  for (const path of untracked) {
    const wanted = await git.query(root, ["cat-file", "--filters", `${id}:${readable(path)}`]);
    const here = await readFile(below(root, path)).catch(() => undefined);
    if (wanted.exit !== 0 || here?.equals(wanted.stdout) !== true) names.push(`\`${shown(path)}\``);
  }
  if (names.length === 0) return;
  throw new Failure(
    "conflict",
    `git does not track ${names.join(", ")} in \`${root}\` and would overwrite it`,
    { text: "move it away, then run the same command again" },
  );
}

function done(cwd: string): Answer {
  return { exit: 0, stdout: Buffer.alloc(0), stderr: "", cwd, asked: "" };
}

async function headOf(git: GitProgram, root: string): Promise<string> {
  return `${(await headBranch(git, root)) ?? ""} ${(await commit(git, root, "HEAD")) ?? ""}`;
}

async function stateBefore(git: GitProgram, root: string, id: string): Promise<Before> {
  const index = await gitPath(git, root, "index");
  const indexed = await readFile(index).catch((error: unknown) => {
    if (is(error, "ENOENT")) return undefined;
    throw failure(error, `\`${index}\``);
  });
  const head = await headOf(git, root);
  const before: Before = { root, head, index, indexed, written: new Set(), created: new Set(), untracked: [] };
  if (head.endsWith(" ")) return before;
  const flags = ["-r", "-z", "--name-status", "--no-renames"];
  const differ = entries(await git.succeed(root, ["diff-tree", ...flags, "HEAD", id, "--"]));
  // Git does not touch changed files, so they need not be restored.
  const status = ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"];
  const changed = new Set(fields(await git.succeed(root, status)).map((entry) => entry.slice(3)));
  for (const [status, path] of differ) {
    if (changed.has(path)) continue;
    const found = lstatIfPresent(below(root, path));
    if (status !== "A") before.written.add(path);
    else if (found === undefined) before.created.add(path);
    // Of a folder, git keeps what it does not track.
    else if (!found.isDirectory()) before.untracked.push(path);
  }
  return before;
}

async function rollBack(git: GitProgram, before: Before): Promise<void> {
  await restoreIndex(before);
  await restoreFiles(git, before.root, { written: [...before.written], created: [...before.created] });
}

/** Restores the files of the index at `written`, and removes those at `created`. */
export async function restoreFiles(
  git: GitProgram,
  root: string,
  { written, created }: { written: string[]; created: string[] },
): Promise<void> {
  // Ends a merge without touching files.
  await git.succeed(root, ["merge", "--quit"]);
  for (const path of created) await remove(root, path);
  const staged = fields(await git.succeed(root, ["ls-files", "--stage", "-z"]));
  const known = new Map(
    staged.map((entry) => [entry.slice(entry.indexOf("\t") + 1), entry.slice(0, 6)]),
  );
  // Submodules stay as they are.
  const isFile = (path: string): boolean => known.has(path) && known.get(path) !== "160000";
  const paths = written.filter(isFile);
  if (paths.length === 0) return;
  const words = ["checkout-index", "--force", "--index", "--quiet", "-z", "--stdin"];
  succeeded(await git.run(root, words, terminated(paths)));
}

/** Replaces the index under git's own lock. */
async function restoreIndex({ index, indexed }: Before): Promise<void> {
  const now = await readFile(index).catch(() => undefined);
  if (indexed === undefined || now?.equals(indexed) === true) return;
  const lock = `${index}.lock`;
  try {
    const mode = (await stat(index).catch(() => undefined))?.mode;
    const file = await open(lock, "wx", mode);
    try {
      await file.writeFile(indexed);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(lock, index);
  } catch (error) {
    if (is(error, "EEXIST")) throw locked(`\`${lock}\``);
    await rm(lock, { force: true });
    throw failure(error, `\`${lock}\``);
  }
}

/** Removes a created file, and the folders that are empty then. */
async function remove(root: string, path: string): Promise<void> {
  const at = below(root, path);
  try {
    await unlink(at);
  } catch (error) {
    if (is(error, "ENOENT") || is(error, "ENOTDIR")) return;
    // Git creates files; another process made this folder.
    if (lstatIfPresent(at)?.isDirectory() === true) return;
    throw failure(error, `\`${at.toString()}\``);
  }
  const parts = path.split("/").slice(0, -1);
  for (; parts.length > 0; parts.pop()) {
    const removed = await rmdir(below(root, parts.join("/"))).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}
