/** Worktrees, and the branches that they have checked out. */

import { existsSync } from "node:fs";
import { lstat, mkdir, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../failure.js";
import type { Repository, WorktreeEntry } from "../vocabulary.js";
import { failure, is } from "./errors.js";
import { commit, dirty, headBranch, layoutOf, mainRootOf, resolved } from "./git_checkout.js";
import { type Answer, type GitAsked, type GitProgram, line, succeeded, untilNul, USAGE_EXIT } from "./git_program.js";
import { removeEmptyAncestors, removeFolder, removeRest } from "./git_removal.js";
import { removeTree } from "./removal.js";

/** A worktree as the repository records it. */
interface Registered {
  path: string;
  branch?: string;
  /** The reason it is locked for; empty where none was given. */
  locked?: string;
  /** Whether the folder is there. */
  present: boolean;
}

/** The state of the checkout around `cwd`, and of `branch` unless that is empty. */
export async function survey(git: GitProgram, cwd: string, branch: string): Promise<Repository | null> {
  const inside = await git.succeed(cwd, ["rev-parse", "--is-inside-work-tree"]);
  if (line(inside) !== "true") return null;
  const layout = await layoutOf(git, cwd);
  const isAsked = branch !== "";
  const target = (isAsked && (await commit(git, cwd, `refs/heads/${branch}`))) || null;
  return {
    root: layout.root,
    main_root: await mainRootOf(git, layout),
    linked: layout.linked,
    branch: (await headBranch(git, cwd)) ?? null,
    head: (await commit(git, cwd, "HEAD")) ?? null,
    dirty: await dirty(git, layout.root),
    target_commit: target,
    target_checked_out_at: (isAsked && (await holderOf(git, cwd, branch))?.path) || null,
    target_blocked_by: (isAsked && target === null && (await blockingBranch(git, cwd, branch))) || null,
  };
}

/** A branch whose name is a leading part of `branch`, or has it as one. */
async function blockingBranch(git: GitProgram, cwd: string, branch: string): Promise<string | undefined> {
  const parts = branch.split("/");
  for (let count = 1; count < parts.length; count++) {
    const above = parts.slice(0, count).join("/");
    if (await commit(git, cwd, `refs/heads/${above}`)) return above;
  }
  const words = ["for-each-ref", "--count=1", "--format=%(refname:strip=2)", `refs/heads/${branch}`];
  return line(await git.succeed(cwd, words)) || undefined;
}

/** Every worktree that holds its branch, the main one first. */
export async function worktrees(git: GitProgram, cwd: string): Promise<WorktreeEntry[]> {
  const entries = (await registered(git, cwd)).filter(holds);
  return entries.map(({ path, branch = null }) => ({ path, branch }));
}

/** Creates a linked worktree, with `create_at` on a new branch at that commit. */
export async function createWorktree(git: GitProgram, cwd: string, wanted: GitAsked<"create_worktree">): Promise<void> {
  const { path, branch, create_at: createAt } = wanted;
  if (await lstat(path).catch(() => undefined)) {
    throw new Failure("exists", `\`${path}\` already exists`);
  }
  const isNew = createAt !== null && (await commit(git, cwd, `refs/heads/${branch}`)) === undefined;
  for (const stale of await registered(git, cwd)) {
    if ((stale.path === path || stale.branch === branch) && !stale.present) {
      demandFree(stale);
      await forget(git, cwd, stale.path);
    }
  }
  const made = await makeParents(path);
  try {
    await addWorktree(git, cwd, wanted, isNew);
  } catch (error) {
    // `rmdir` keeps a folder that another process uses by now.
    for (const parent of made.reverse()) await rmdir(parent).catch(() => undefined);
    throw error;
  }
}

/** Removes the linked worktree at `path` and its folder. */
export async function removeWorktree(git: GitProgram, cwd: string, path: string): Promise<void> {
  const wanted = resolved(path);
  await removeRest(wanted);
  const main = await mainRootOf(git, await layoutOf(git, cwd));
  const found = (await registered(git, cwd)).find((entry) => entry.path === wanted && entry.path !== main);
  if (found === undefined) {
    // A process that was killed during the removal leaves empty folders.
    await removeEmptyAncestors(wanted);
    throw new Failure("not_found", `\`${path}\` is not a linked worktree of this repository`);
  }
  demandFree(found);
  if (found.present) await removeFolder(wanted);
  await forget(git, cwd, wanted);
  await removeEmptyAncestors(wanted);
}

/** Deletes a local branch that is not checked out. */
export async function deleteBranch(git: GitProgram, cwd: string, branch: string): Promise<void> {
  const holder = await holderOf(git, cwd, branch);
  if (holder !== undefined) {
    throw new Failure("busy", `branch \`${branch}\` is checked out at \`${holder.path}\``);
  }
  if ((await commit(git, cwd, `refs/heads/${branch}`)) === undefined) {
    throw new Failure("not_found", `there is no branch \`${branch}\` in \`${cwd}\``);
  }
  await git.succeed(cwd, ["branch", "--quiet", "--delete", "--force", "--", branch]);
}

/** The worktree that has a branch checked out. */
async function holderOf(git: GitProgram, cwd: string, branch: string): Promise<Registered | undefined> {
  return (await registered(git, cwd)).find((entry) => entry.branch === branch && holds(entry));
}

/** Every registered worktree, the main checkout first unless the repository is bare. */
async function registered(git: GitProgram, cwd: string): Promise<Registered[]> {
  const answer = await untilWritten(() => git.query(cwd, ["worktree", "list", "--porcelain", "-z"]));
  if (answer.exit === USAGE_EXIT) await git.demandRecent(cwd);
  const output = succeeded(answer);
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
    // For a submodule git prints the repository here and not the checkout.
    main.path = await mainRootOf(git, await layoutOf(git, cwd));
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

/** Throws when a worktree is locked. */
function demandFree({ path, locked }: Registered): void {
  if (locked === undefined) return;
  const why = locked === "" ? "no reason given" : locked;
  const rest = "`git worktree unlock` frees it";
  throw new Failure("busy", `the worktree \`${path}\` is locked (${why}); ${rest}`);
}

/** `isNew`: the branch does not exist yet, and a failure deletes it again. */
async function addWorktree(
  git: GitProgram,
  cwd: string,
  { path, branch, create_at: createAt }: GitAsked<"create_worktree">,
  isNew: boolean,
): Promise<void> {
  try {
    if (createAt !== null) {
      // `worktree add -b` would keep the branch after a failed checkout.
      await git.succeed(cwd, ["branch", "--quiet", "--no-track", "--", branch, createAt]);
    }
    // Git reads the other records before it writes its own.
    const added = await untilWritten(() => git.run(cwd, ["worktree", "add", "--quiet", "--", path, branch]));
    succeeded(added);
  } catch (error) {
    const uninterruptible = git.uninterruptible();
    await removeTree(path).catch(() => undefined);
    await forget(uninterruptible, cwd, path).catch(() => undefined);
    if (isNew) {
      const removal = ["branch", "--quiet", "--delete", "--force", "--", branch];
      await uninterruptible.query(cwd, removal).catch(() => undefined);
    }
    throw error;
  }
}

async function forget(git: GitProgram, cwd: string, path: string): Promise<void> {
  succeeded(await untilWritten(() => git.query(cwd, ["worktree", "remove", "--force", "--", path])));
}

/** How often git is asked again while another git writes the record of a worktree, and the pause. */
const RECORD_TRIES = 20;
const RECORD_PAUSE_MS = 50;
const HALF_WRITTEN = /failed to read .*\/worktrees\/.*\/(commondir|gitdir|HEAD)/;

/**
 * Repeats what reads the records of all worktrees. Git fails while another process, such as the person's
 * own `git worktree add`, has written a part of one.
 */
async function untilWritten(ask: () => Promise<Answer>): Promise<Answer> {
  for (let left = RECORD_TRIES; ; left -= 1) {
    const answer = await ask();
    if (answer.exit === 0 || left === 1 || !HALF_WRITTEN.test(answer.stderr)) return answer;
    await new Promise((resolve) => setTimeout(resolve, RECORD_PAUSE_MS));
  }
}

/** Creates the missing parents of `path` and returns them. */
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
      // Another process created it, and removes it as well.
      if (!is(error, "EEXIST")) throw failure(error, `\`${folder}\``);
    }
  }
  return made;
}
