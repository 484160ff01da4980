/** Git repositories through the git program. Needs git 2.36 or newer. */

import { existsSync, realpathSync } from "node:fs";
import { lstat, mkdir, rm, rmdir } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Failure } from "../failure.js";
import type { Git, Repository, Worktree } from "../host.js";
import { failure, is } from "./errors.js";
import { ask, isInRepository, line, maybe, succeed, untilNul } from "./git_program.js";
import type { Root } from "./root.js";

/** Where the parts of a checkout are. */
interface Layout {
  root: string;
  /** What all worktrees of the repository share. */
  common: string;
  linked: boolean;
}

/** A worktree as the repository has it on record. */
interface Registered {
  path: string;
  branch?: string;
  /** The reason it is locked for; empty where none was given. */
  locked?: string;
  /** Whether the folder is there. */
  present: boolean;
}

const HOME_OF_WORKTREES = ".hotl-worktrees";

export class NodeGit implements Git {
  readonly #root: Root;

  constructor(root: Root) {
    this.#root = root;
  }

  async survey(cwd: string, branch: string): Promise<Repository | undefined> {
    const folder = this.#root.resolve(cwd);
    if (!(await isInRepository(folder))) return undefined;
    const inside = await succeed(folder, ["rev-parse", "--is-inside-work-tree"]);
    if (line(inside) !== "true") return undefined;
    const layout = await layoutOf(folder);
    const mainRoot = await mainRootOf(layout);
    // A name that git does not allow names no branch, and git never gets to see it.
    const target = isBranchName(branch) ? branch : undefined;
    const holder =
      target === undefined
        ? undefined
        : (await registered(folder)).find((entry) => entry.branch === target && holds(entry));
    const found: { [Name in keyof Repository]: Repository[Name] | undefined } = {
      root: layout.root,
      mainRoot,
      linked: layout.linked,
      branch: await headBranch(folder),
      head: await commit(folder, "HEAD"),
      dirty: await dirty(layout.root),
      targetCommit: target && (await commit(folder, `refs/heads/${target}`)),
      targetCheckedOutAt: holder?.path,
    };
    return found as Repository;
  }

  async worktrees(cwd: string): Promise<Worktree[]> {
    const folder = this.#root.resolve(cwd);
    if (!(await isInRepository(folder))) return [];
    const entries = (await registered(folder)).filter(holds);
    return entries.map(({ path, branch }) => ({ path, ...(branch !== undefined && { branch }) }));
  }

  async head(cwd: string): Promise<string | undefined> {
    const folder = this.#root.resolve(cwd);
    return (await isInRepository(folder)) ? commit(folder, "HEAD") : undefined;
  }

  async createWorktree(
    cwd: string,
    path: string,
    branch: string,
    createAt?: string,
  ): Promise<void> {
    const target = this.#root.resolve(path);
    branchName(branch);
    if (createAt !== undefined && !/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(createAt)) {
      throw new Failure("invalid", `\`${createAt}\` is not the id of a commit`);
    }
    if (await lstat(target).catch(() => undefined)) {
      throw new Failure("exists", `\`${target}\` already exists`);
    }
    const folder = await this.#repository(cwd);
    for (const stale of await registered(folder)) {
      if ((stale.path === target || stale.branch === branch) && !stale.present) {
        unlocked(stale);
        await forget(folder, stale.path);
      }
    }
    const made = await makeParents(target);
    try {
      if (createAt !== undefined) {
        // By itself, `worktree add -b` leaves its branch behind when the checkout fails.
        await succeed(folder, ["branch", "--quiet", "--no-track", "--", branch, createAt]);
      }
      await addWorktree(folder, target, branch, createAt !== undefined);
    } catch (error) {
      // Not empty means that a folder has become somebody else's too.
      for (const parent of made.reverse()) await rmdir(parent).catch(() => undefined);
      throw error;
    }
  }

  async removeWorktree(cwd: string, path: string): Promise<void> {
    const folder = await this.#repository(cwd);
    const wanted = resolved(this.#root.resolve(path));
    const main = await mainRootOf(await layoutOf(folder));
    const found = (await registered(folder)).find(
      (entry) => entry.path === wanted && entry.path !== main,
    );
    if (found === undefined) {
      const why = "is not a linked worktree of this repository";
      throw new Failure("not_found", `\`${path}\` ${why}`);
    }
    unlocked(found);
    await forget(folder, wanted);
    await removeEmptyAncestors(wanted);
  }

  async switch(cwd: string, branch: string, create: boolean): Promise<void> {
    branchName(branch);
    const words = ["switch", "--quiet", "--no-guess", "--no-recurse-submodules"];
    const folder = await this.#repository(cwd);
    await succeed(folder, [...words, ...(create ? ["--create"] : []), branch]);
  }

  async deleteBranch(cwd: string, branch: string): Promise<void> {
    branchName(branch);
    const folder = await this.#repository(cwd);
    const holder = (await registered(folder)).find(
      (entry) => entry.branch === branch && holds(entry),
    );
    if (holder !== undefined) {
      throw new Failure("busy", `branch \`${branch}\` is checked out at \`${holder.path}\``);
    }
    if ((await commit(folder, `refs/heads/${branch}`)) === undefined) {
      throw new Failure("not_found", `there is no branch \`${branch}\` in \`${folder}\``);
    }
    await succeed(folder, ["branch", "--quiet", "--delete", "--force", "--", branch]);
  }

  async stash(cwd: string, message: string, paths: string[]): Promise<void> {
    const { root } = await layoutOf(await this.#repository(cwd));
    const before = await commit(root, "refs/stash");
    const words = ["stash", "push", "--quiet", "--include-untracked", "--message", message];
    const list = ["--pathspec-from-file=-", "--pathspec-file-nul"];
    await succeed(root, [...words, ...list], `${paths.join("\0")}\0`);
    if ((await commit(root, "refs/stash")) === before) {
      throw new Failure("conflict", `git found nothing to stash in \`${root}\``);
    }
    const left = new Set(await dirty(root));
    const missed = paths.find((path) => left.has(path));
    if (missed !== undefined) {
      const rest = "`git stash pop` brings back what it did";
      throw new Failure("conflict", `git could not stash \`${missed}\` in \`${root}\`; ${rest}`);
    }
  }

  async #repository(cwd: string): Promise<string> {
    const folder = this.#root.resolve(cwd);
    if (await isInRepository(folder)) return folder;
    throw new Failure("not_found", `\`${folder}\` is not inside a git repository`);
  }
}

async function layoutOf(cwd: string): Promise<Layout> {
  const parts = ["--show-toplevel", "--git-dir", "--git-common-dir"];
  const answer = await succeed(cwd, ["rev-parse", "--path-format=absolute", ...parts]);
  const [root, own, common, ...more] = line(answer).split("\n").map(resolved);
  if (root === undefined || own === undefined || common === undefined || more.length > 0) {
    throw new Failure("invalid", `a path around \`${cwd}\` contains a line break`);
  }
  return { root, common, linked: own !== common };
}

/** Top folder of the main checkout; of a bare repository, its own folder. */
async function mainRootOf({ root, common, linked }: Layout): Promise<string> {
  if (!linked) return root;
  // Asked from inside the common folder, git knows a checkout that is configured elsewhere (a
  // submodule's) but not the usual one around it.
  const configured = await maybe(common, ["config", "--path", "core.worktree"]);
  if (configured !== undefined) {
    return resolved(isAbsolute(configured) ? configured : join(common, configured));
  }
  const bare = (await maybe(common, ["config", "--type=bool", "core.bare"])) === "true";
  return basename(common) === ".git" && !bare ? dirname(common) : common;
}

/** Every worktree on record, the main checkout first unless the repository is bare. */
async function registered(cwd: string): Promise<Registered[]> {
  const output = await succeed(cwd, ["worktree", "list", "--porcelain", "-z"]);
  const all: Registered[] = [];
  let bare = false;
  for (const attribute of untilNul(output)) {
    const blank = attribute.indexOf(" ");
    const key = blank < 0 ? attribute : attribute.slice(0, blank);
    const value = blank < 0 ? "" : attribute.slice(blank + 1);
    const current = all.at(-1);
    if (key === "worktree") {
      all.push({ path: resolved(value), present: existsSync(join(value, ".git")) });
    } else if (key === "branch" && current !== undefined && value.startsWith("refs/heads/")) {
      current.branch = value.slice("refs/heads/".length);
    } else if (key === "locked" && current !== undefined) {
      current.locked = value;
    } else if (key === "bare") {
      bare = true;
    }
  }
  const main = all[0];
  if (main !== undefined && bare) {
    all.shift();
  } else if (main !== undefined) {
    // Git names a submodule's repository here, not its checkout.
    main.path = await mainRootOf(await layoutOf(cwd));
    main.present = true;
  }
  return all;
}

/**
 * A worktree whose folder is gone still holds its branch while it is locked: the folder may be
 * on a disk that is not mounted.
 */
function holds({ present, locked }: Registered): boolean {
  return present || locked !== undefined;
}

/** Refuses to touch a locked worktree. */
function unlocked({ path, locked }: Registered): void {
  if (locked === undefined) return;
  const why = locked === "" ? "no reason given" : locked;
  const rest = "`git worktree unlock` frees it";
  throw new Failure("busy", `the worktree \`${path}\` is locked (${why}); ${rest}`);
}

async function addWorktree(
  cwd: string,
  path: string,
  branch: string,
  isNew: boolean,
): Promise<void> {
  try {
    await succeed(cwd, ["worktree", "add", "--quiet", "--", path, branch]);
  } catch (error) {
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    await forget(cwd, path).catch(() => undefined);
    if (isNew) {
      await ask(cwd, ["branch", "--quiet", "--delete", "--force", "--", branch]).catch(() => {});
    }
    throw error;
  }
}

async function forget(cwd: string, path: string): Promise<void> {
  await succeed(cwd, ["worktree", "remove", "--force", "--", path]);
}

/** Makes the missing parents of `path` and says which those were. */
async function makeParents(path: string): Promise<string[]> {
  const missing: string[] = [];
  for (let at = dirname(path); !existsSync(at) && dirname(at) !== at; at = dirname(at)) {
    missing.push(at);
  }
  const made: string[] = [];
  for (const folder of missing.reverse()) {
    try {
      await mkdir(folder);
      made.push(folder);
    } catch (error) {
      // Somebody else was quicker; then it is theirs to remove.
      if (!is(error, "EEXIST")) throw failure(error, `\`${folder}\``);
    }
  }
  return made;
}

/** Removes the folders that only held worktrees, once the last one has gone. */
async function removeEmptyAncestors(worktree: string): Promise<void> {
  if (!worktree.split("/").includes(HOME_OF_WORKTREES)) return;
  for (let at = dirname(worktree); ; at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed || basename(at) === HOME_OF_WORKTREES) return;
  }
}

/** The commit that `revision` names, if there is one. */
function commit(cwd: string, revision: string): Promise<string | undefined> {
  const words = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
  return maybe(cwd, [...words, `${revision}^{commit}`]);
}

async function headBranch(cwd: string): Promise<string | undefined> {
  const name = await maybe(cwd, ["symbolic-ref", "--quiet", "HEAD"]);
  return name?.startsWith("refs/heads/") ? name.slice("refs/heads/".length) : undefined;
}

async function dirty(root: string): Promise<string[]> {
  const words = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"];
  // Two letters and a blank come before the path.
  const paths = untilNul(await succeed(root, words)).map((entry) => entry.slice(3));
  const bytes = [...new Set(paths)].map((path) => Buffer.from(path));
  return bytes.sort(Buffer.compare).map(String);
}

/** What git allows a branch to be called, as far as it could be taken for something else. */
function isBranchName(name: string): boolean {
  const hostile = /^[-/]|[\s~^:?*[\\\x00-\x1f\x7f]|\.\.|@\{|\/\/|[./]$|\.lock(\/|$)|(^|\/)\./;
  return name !== "" && name !== "@" && name !== "HEAD" && !hostile.test(name);
}

function branchName(name: string): void {
  if (isBranchName(name)) return;
  throw new Failure("invalid", `${JSON.stringify(name)} is not a branch name`);
}

/** `path` with symbolic links resolved, where it exists. */
function resolved(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
