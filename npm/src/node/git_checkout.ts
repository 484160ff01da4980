/** Reads the state of a checkout from git. */

import { realpathSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Failure } from "../failure.js";
import { fields, sortedNames } from "./git_paths.js";
import { type GitProgram, line } from "./git_program.js";
import { locked } from "./git_errors.js";

/** The folders of a checkout. */
export interface Layout {
  root: string;
  /** The git folder that all worktrees share. */
  common: string;
  linked: boolean;
}

/** The folders of the checkout around `cwd`. */
export async function layoutOf(git: GitProgram, cwd: string): Promise<Layout> {
  const parts = ["--show-toplevel", "--git-dir", "--git-common-dir"];
  const answer = await git.succeed(cwd, ["rev-parse", "--path-format=absolute", ...parts]);
  const [root, own, common, ...more] = line(answer).split("\n").map(resolved);
  if (root === undefined || own === undefined || common === undefined || more.length > 0) {
    await git.demandRecent(cwd);
    throw new Failure("invalid", `a path around \`${cwd}\` contains a line break`);
  }
  return { root, common, linked: own !== common };
}

/** Top folder of the main checkout, or the folder of a bare repository. */
export async function mainRootOf(git: GitProgram, layout: Layout): Promise<string> {
  const { root, common, linked } = layout;
  if (!linked) return root;
  // In the common folder git reports a configured checkout, such as a submodule's, but not the usual
  // one around it.
  const configured = await git.maybe(common, ["config", "--path", "core.worktree"]);
  if (configured !== undefined) {
    return resolved(isAbsolute(configured) ? configured : join(common, configured));
  }
  const bare = (await git.maybe(common, ["config", "--type=bool", "core.bare"])) === "true";
  return basename(common) === ".git" && !bare ? dirname(common) : common;
}

/** The commit that `revision` names, if there is one. */
export function commit(
  git: GitProgram,
  cwd: string,
  revision: string,
): Promise<string | undefined> {
  const words = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
  return git.maybe(cwd, [...words, `${revision}^{commit}`]);
}

/** The branch at HEAD, which may have no commit yet. */
export async function headBranch(git: GitProgram, cwd: string): Promise<string | undefined> {
  const name = await git.maybe(cwd, ["symbolic-ref", "--quiet", "HEAD"]);
  return name?.startsWith("refs/heads/") ? name.slice("refs/heads/".length) : undefined;
}

/** Every uncommitted path, relative to the top folder, sorted by bytes. */
export async function dirty(git: GitProgram, root: string): Promise<string[]> {
  // Inside a submodule git would start the filters of its configuration, which an agent may write.
  const flags = ["--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const words = ["status", "--porcelain=v1", "-z", ...flags];
  // A line begins with two letters and a blank.
  const paths = fields(await git.succeed(root, words)).map((entry) => entry.slice(3));
  return sortedNames([...new Set(paths)]);
}

/**
 * Throws when the index or one of `references` is locked. Git would find that out only after it has
 * changed files.
 */
export async function demandUnlocked(
  git: GitProgram,
  cwd: string,
  references: string[],
): Promise<void> {
  const lock = await gitPath(git, cwd, "index.lock");
  if (await lstat(lock).catch(() => undefined)) throw locked(`\`${lock}\``);
  for (const reference of references) {
    // An update to the same commit takes the same locks and changes nothing.
    const id = await commit(git, cwd, reference);
    if (id !== undefined) await git.succeed(cwd, ["update-ref", reference, id, id]);
  }
}

/** The path of a file in the git folder of the checkout. */
export async function gitPath(git: GitProgram, cwd: string, name: string): Promise<string> {
  return line(await git.succeed(cwd, ["rev-parse", "--path-format=absolute", "--git-path", name]));
}

/** `path` with symbolic links resolved, where it exists. */
export function resolved(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
