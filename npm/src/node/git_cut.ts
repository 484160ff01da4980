/**
 * Changing the files of a checkout completely, or not at all.
 *
 * Git does so by itself as long as it is not killed. When its time is over, or a person interrupts, it
 * has written some of the files and neither index nor HEAD, or all but HEAD. What it was going to
 * touch is known beforehand, and no file of it had anything in it that git does not have: otherwise
 * git would have refused.
 */

import { open, readFile, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { Failure } from "../failure.js";
import { failure, is } from "./errors.js";
import { commit, demandUnlocked, headBranch, layoutOf } from "./git_checkout.js";
import { below, entries, fields, look, terminated } from "./git_paths.js";
import { type Answer, type GitAsked, type GitProgram, complaint, line, succeeded } from "./git_program.js";
import { left, locked } from "./git_trouble.js";

/** The exit code of a git that another process has killed. */
const SIGNALLED = -1;

/** A checkout before git changes files in it. */
interface Before {
  root: string;
  /** The branch at HEAD and the commit there. */
  head: string;
  /** Where its index is, and what that says. */
  index: string;
  indexed: Buffer | undefined;
  /** Files that git may write or remove, as they are now. */
  written: Set<string>;
  /** Files that git may make. */
  made: Set<string>;
}

/** Switches to a branch, which it may create first. */
export async function switchTo(git: GitProgram, cwd: string, { branch, create }: GitAsked<"switch">): Promise<void> {
  if (create) await checkOut(git, cwd, ["--create", branch]);
  else await checkOut(git, cwd, [branch], `refs/heads/${branch}`);
}

/** Runs `git switch` with `words`, which makes the files those of `revision`; without it none changes. */
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
    succeeded(await git.act(cwd, all));
    return;
  }
  const { root } = await layoutOf(git, cwd);
  succeeded(await changeFiles(git, root, all, target));
}

/**
 * Lets git make the files of the checkout at `root` those of a commit, or of a merge with it. When it
 * is ended before its end, everything is made as it was before. HEAD moves last: where it has, all is
 * done.
 */
export async function changeFiles(
  git: GitProgram,
  root: string,
  words: string[],
  id: string,
): Promise<Answer> {
  const before = await stateBefore(git, root, id);
  try {
    const answer = await git.act(root, words);
    if (answer.exit !== SIGNALLED) return answer;
    throw complaint(answer);
  } catch (error) {
    // Only these say that git was ended, by us or by another process.
    const isCut = error instanceof Failure && ["interrupted", "other"].includes(error.kind);
    if (!isCut) throw error;
    const undisturbed = git.undisturbed();
    const head = await headOf(undisturbed, root).catch(() => before.head);
    if (head !== before.head) {
      if (error.kind === "interrupted") git.raiseAgain();
      return done(root);
    }
    throw await putBack(undisturbed, before).then(
      () => error,
      (why: unknown) => (why instanceof Failure ? left(error, root, why) : why),
    );
  }
}

function done(cwd: string): Answer {
  return { exit: 0, stdout: Buffer.alloc(0), stderr: "", cwd, asked: "" };
}

async function headOf(git: GitProgram, root: string): Promise<string> {
  return `${(await headBranch(git, root)) ?? ""} ${(await commit(git, root, "HEAD")) ?? ""}`;
}

async function stateBefore(git: GitProgram, root: string, id: string): Promise<Before> {
  const words = ["rev-parse", "--path-format=absolute", "--git-path", "index"];
  const index = line(await git.succeed(root, words));
  const indexed = await readFile(index).catch((error: unknown) => {
    if (is(error, "ENOENT")) return undefined;
    throw failure(error, `\`${index}\``);
  });
  const head = await headOf(git, root);
  const before: Before = { root, head, index, indexed, written: new Set(), made: new Set() };
  if (head.endsWith(" ")) return before;
  const flags = ["-r", "-z", "--name-status", "--no-renames"];
  const differ = entries(await git.succeed(root, ["diff-tree", ...flags, "HEAD", id, "--"]));
  // Git does not touch changed files, so they need not be restored.
  const status = ["status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"];
  const changed = new Set(fields(await git.succeed(root, status)).map((entry) => entry.slice(3)));
  for (const [status, path] of differ) {
    if (changed.has(path)) continue;
    if (status !== "A") before.written.add(path);
    else if (look(below(root, path)) === undefined) before.made.add(path);
  }
  return before;
}

async function putBack(git: GitProgram, before: Before): Promise<void> {
  const { root } = before;
  await putIndexBack(before);
  // What git was merging is forgotten without a look at files.
  await git.succeed(root, ["merge", "--quit"]);
  for (const path of before.made) await remove(root, path);
  const staged = fields(await git.succeed(root, ["ls-files", "--stage", "-z"]));
  const known = new Map(
    staged.map((entry) => [entry.slice(entry.indexOf("\t") + 1), entry.slice(0, 6)]),
  );
  // A repository inside the checkout is never touched.
  const isFile = (path: string): boolean => known.has(path) && known.get(path) !== "160000";
  const paths = [...before.written].filter(isFile);
  if (paths.length === 0) return;
  const words = ["checkout-index", "--force", "--index", "--quiet", "-z", "--stdin"];
  succeeded(await git.act(root, words, terminated(paths)));
}

/** Under git's own lock. */
async function putIndexBack({ index, indexed }: Before): Promise<void> {
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

/** Removes a file that was not there before, and the folders that were made for it. */
async function remove(root: string, path: string): Promise<void> {
  const at = below(root, path);
  try {
    await unlink(at);
  } catch (error) {
    if (is(error, "ENOENT") || is(error, "ENOTDIR")) return;
    // A folder is not what git was going to make.
    if (look(at)?.isDirectory() === true) return;
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
