/** Git repositories through the git program. Needs git 2.36 or newer. */

import { existsSync } from "node:fs";
import { lstat, mkdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../failure.js";
import type {
  Git,
  KeptWork,
  NamedCheckpoint,
  NewCheckpoint,
  NewCommit,
  NewFiles,
  RefUpdate,
  Repository,
  Worktree,
} from "../host.js";
import { failure, is } from "./errors.js";
import { commit, dirty, headBranch, layoutOf, mainRootOf, resolved } from "./git_checkout.js";
import {
  changedPaths,
  checkpoint,
  checkpoints,
  diff,
  forgetCheckpoint,
  note,
  restore,
} from "./git_checkpoint.js";
import { commitKept } from "./git_commit.js";
import { checkOut } from "./git_cut.js";
import { merge, mergeBase } from "./git_merge.js";
import { GitProgram, line, succeeded, untilNul, USAGE_EXIT } from "./git_program.js";
import { push, remoteBranch } from "./git_remote.js";
import { removeEmptyAncestors, removeFolder, removeRest } from "./git_removal.js";
import { fetchRefs, keepFiles, pushRefs, readKept } from "./git_shared.js";
import type { Interrupts } from "./interrupts.js";
import { OwnPrograms } from "./own_programs.js";
import type { Root } from "./root.js";

/** A worktree as the repository records it. */
interface Registered {
  path: string;
  branch?: string;
  /** The reason it is locked for; empty where none was given. */
  locked?: string;
  /** Whether the folder is there. */
  present: boolean;
}

export class NodeGit implements Git {
  readonly #root: Root;
  readonly #programs: OwnPrograms;
  readonly #git: GitProgram;

  /** Git that `interrupts` ends when it hangs; no command of it takes longer than `longestMs`. */
  constructor(root: Root, interrupts?: Interrupts, longestMs?: number) {
    this.#root = root;
    this.#programs = new OwnPrograms(interrupts);
    this.#git = new GitProgram(this.#programs, longestMs);
  }

  /** Ends what runs, as quickly as leaves no locks behind: the process is about to exit. */
  endNow(): void {
    this.#programs.endNow();
  }

  async survey(cwd: string, branch: string): Promise<Repository | undefined> {
    const folder = this.#root.resolve(cwd);
    if (!(await this.#git.isInRepository(folder))) return undefined;
    const inside = await this.#git.succeed(folder, ["rev-parse", "--is-inside-work-tree"]);
    if (line(inside) !== "true") return undefined;
    const layout = await layoutOf(this.#git, folder);
    const mainRoot = await mainRootOf(this.#git, layout);
    const target = branch === "" ? undefined : branch;
    const holder =
      target === undefined
        ? undefined
        : (await registered(this.#git, folder)).find((entry) => entry.branch === target && holds(entry));
    const found: { [Name in keyof Repository]: Repository[Name] | undefined } = {
      root: layout.root,
      mainRoot,
      linked: layout.linked,
      branch: await headBranch(this.#git, folder),
      head: await commit(this.#git, folder, "HEAD"),
      dirty: await dirty(this.#git, layout.root),
      targetCommit: target && (await commit(this.#git, folder, `refs/heads/${target}`)),
      targetCheckedOutAt: holder?.path,
    };
    return found as Repository;
  }

  async worktrees(cwd: string): Promise<Worktree[]> {
    const folder = this.#root.resolve(cwd);
    if (!(await this.#git.isInRepository(folder))) return [];
    const entries = (await registered(this.#git, folder)).filter(holds);
    return entries.map(({ path, branch }) => ({ path, ...(branch !== undefined && { branch }) }));
  }

  async head(cwd: string): Promise<string | undefined> {
    const folder = this.#root.resolve(cwd);
    return (await this.#git.isInRepository(folder)) ? commit(this.#git, folder, "HEAD") : undefined;
  }

  async createWorktree(
    cwd: string,
    path: string,
    branch: string,
    createAt?: string,
  ): Promise<void> {
    const target = this.#root.resolve(path);
    if (createAt !== undefined) commitId(createAt);
    if (await lstat(target).catch(() => undefined)) {
      throw new Failure("exists", `\`${target}\` already exists`);
    }
    const folder = await this.#repository(cwd);
    const full = `refs/heads/${branch}`;
    const isNew = createAt !== undefined && (await commit(this.#git, folder, full)) === undefined;
    for (const stale of await registered(this.#git, folder)) {
      if ((stale.path === target || stale.branch === branch) && !stale.present) {
        unlocked(stale);
        await forget(this.#git, folder, stale.path);
      }
    }
    const made = await makeParents(target);
    try {
      await addWorktree(this.#git, folder, { path: target, branch, createAt, isNew });
    } catch (error) {
      // A folder that is not empty is used by somebody else by now.
      for (const parent of made.reverse()) await rmdir(parent).catch(() => undefined);
      throw error;
    }
  }

  async removeWorktree(cwd: string, path: string): Promise<void> {
    const folder = await this.#repository(cwd);
    const wanted = resolved(this.#root.resolve(path));
    await removeRest(wanted);
    const main = await mainRootOf(this.#git, await layoutOf(this.#git, folder));
    const found = (await registered(this.#git, folder)).find(
      (entry) => entry.path === wanted && entry.path !== main,
    );
    if (found === undefined) {
      // Whoever removed it before may have been killed before this.
      await removeEmptyAncestors(wanted);
      const why = "is not a linked worktree of this repository";
      throw new Failure("not_found", `\`${path}\` ${why}`);
    }
    unlocked(found);
    if (found.present) await removeFolder(wanted);
    await forget(this.#git, folder, wanted);
    await removeEmptyAncestors(wanted);
  }

  async switch(cwd: string, branch: string, create: boolean): Promise<void> {
    const folder = await this.#repository(cwd);
    if (create) await checkOut(this.#git, folder, ["--create", branch]);
    else await checkOut(this.#git, folder, [branch], `refs/heads/${branch}`);
  }

  async deleteBranch(cwd: string, branch: string): Promise<void> {
    const folder = await this.#repository(cwd);
    const holder = (await registered(this.#git, folder)).find(
      (entry) => entry.branch === branch && holds(entry),
    );
    if (holder !== undefined) {
      throw new Failure("busy", `branch \`${branch}\` is checked out at \`${holder.path}\``);
    }
    if ((await commit(this.#git, folder, `refs/heads/${branch}`)) === undefined) {
      throw new Failure("not_found", `there is no branch \`${branch}\` in \`${folder}\``);
    }
    await this.#git.succeed(folder, ["branch", "--quiet", "--delete", "--force", "--", branch]);
  }

  async mergeBase(cwd: string, id: string, branch: string): Promise<string | undefined> {
    commitId(id);
    return mergeBase(this.#git, await this.#repository(cwd), id, branch);
  }

  async remoteBranch(cwd: string, remote: string, branch: string): Promise<string | undefined> {
    return remoteBranch(this.#git, await this.#repository(cwd), remote, branch);
  }

  async merge(cwd: string, branch: string, id: string, into: string): Promise<void> {
    commitId(id);
    await merge(this.#git, await this.#repository(cwd), { branch, commit: id, into });
  }

  async push(cwd: string, remote: string, branch: string): Promise<void> {
    await push(this.#git, await this.#repository(cwd), remote, branch);
  }

  async stash(cwd: string, message: string, paths: string[]): Promise<void> {
    const { root } = await layoutOf(this.#git, await this.#repository(cwd));
    const before = await commit(this.#git, root, "refs/stash");
    const words = ["stash", "push", "--quiet", "--include-untracked", "--message", message];
    const list = ["--pathspec-from-file=-", "--pathspec-file-nul"];
    try {
      succeeded(await this.#git.act(root, [...words, ...list], `${paths.join("\0")}\0`));
    } catch (error) {
      const now = await commit(this.#git.undisturbed(), root, "refs/stash").catch(() => undefined);
      if (now === before || !(error instanceof Failure)) throw error;
      // The stash is made before files are touched.
      throw new Failure(error.kind, `${error.message}; \`git stash pop\` brings back what it did`);
    }
    if ((await commit(this.#git, root, "refs/stash")) === before) {
      throw new Failure("conflict", `git found nothing to stash in \`${root}\``);
    }
    const left = new Set(await dirty(this.#git, root));
    const missed = paths.find((path) => left.has(path));
    if (missed !== undefined) {
      const rest = "`git stash pop` brings back what it did";
      throw new Failure("conflict", `git could not stash \`${missed}\` in \`${root}\`; ${rest}`);
    }
  }

  async checkpoint(cwd: string, made: NewCheckpoint): Promise<KeptWork> {
    if (made.parent !== undefined) commitId(made.parent);
    const index = this.#root.resolve(made.index);
    return checkpoint(this.#git, await this.#repository(cwd), { ...made, index });
  }

  async restore(
    cwd: string,
    index: string,
    id: string,
    paths: string[],
    programs?: string,
  ): Promise<void> {
    commitId(id);
    const wanted = { id, paths };
    await restore(this.#git, await this.#repository(cwd), this.#root.resolve(index), wanted, programs);
  }

  async diff(
    cwd: string,
    ends: [from: string, to: string],
    isStat: boolean,
    paths: string[],
    limitBytes: number,
  ): Promise<Uint8Array> {
    ends.forEach(commitId);
    return diff(this.#git, await this.#repository(cwd), ends, isStat, paths, limitBytes);
  }

  async changedPaths(cwd: string, from: string, to: string): Promise<string[]> {
    [from, to].forEach(commitId);
    return changedPaths(this.#git, await this.#repository(cwd), from, to);
  }

  async commitKept(cwd: string, made: NewCommit): Promise<string> {
    [made.head, made.kept].forEach(commitId);
    const index = this.#root.resolve(made.index);
    return commitKept(this.#git, await this.#repository(cwd), { ...made, index });
  }

  async checkpoints(cwd: string): Promise<NamedCheckpoint[]> {
    const folder = this.#root.resolve(cwd);
    return (await this.#git.isInRepository(folder)) ? checkpoints(this.#git, folder) : [];
  }

  async forgetCheckpoint(cwd: string, name: string, id: string): Promise<void> {
    commitId(id);
    await forgetCheckpoint(this.#git, await this.#repository(cwd), name, id);
  }

  async note(cwd: string, id: string, text: string, atMs: number): Promise<void> {
    commitId(id);
    await note(this.#git, await this.#repository(cwd), id, text, atMs);
  }

  async keepFiles(cwd: string, made: NewFiles): Promise<string> {
    if (made.parent !== undefined) commitId(made.parent);
    return keepFiles(this.#git, await this.#repository(cwd), made);
  }

  async readKept(cwd: string, id: string, name: string, limitBytes: number): Promise<Uint8Array> {
    commitId(id);
    return readKept(this.#git, await this.#repository(cwd), id, name, limitBytes);
  }

  async pushRefs(cwd: string, remote: string, updates: RefUpdate[]): Promise<void> {
    const ids = updates.flatMap(({ expected, commit }) => [expected, commit]);
    for (const id of ids) if (id !== undefined) commitId(id);
    await pushRefs(this.#git, await this.#repository(cwd), remote, updates);
  }

  async fetchRefs(cwd: string, remote: string, prefix: string): Promise<NamedCheckpoint[]> {
    return fetchRefs(this.#git, await this.#repository(cwd), remote, prefix);
  }

  async #repository(cwd: string): Promise<string> {
    const folder = this.#root.resolve(cwd);
    if (await this.#git.isInRepository(folder)) return folder;
    throw new Failure("not_found", `\`${folder}\` is not inside a git repository`);
  }
}

/** Every worktree on record, the main checkout first unless the repository is bare. */
async function registered(git: GitProgram, cwd: string): Promise<Registered[]> {
  const answer = await git.ask(cwd, ["worktree", "list", "--porcelain", "-z"]);
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
    // Git names a submodule's repository here, not its checkout.
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

/** Refuses to touch a locked worktree. */
function unlocked({ path, locked }: Registered): void {
  if (locked === undefined) return;
  const why = locked === "" ? "no reason given" : locked;
  const rest = "`git worktree unlock` frees it";
  throw new Failure("busy", `the worktree \`${path}\` is locked (${why}); ${rest}`);
}

/** A worktree to add; `isNew`: there is no branch of that name yet. */
interface NewWorktree {
  path: string;
  branch: string;
  createAt: string | undefined;
  isNew: boolean;
}

async function addWorktree(git: GitProgram, cwd: string, made: NewWorktree): Promise<void> {
  const { path, branch, createAt, isNew } = made;
  try {
    if (createAt !== undefined) {
      // By itself, `worktree add -b` leaves its branch behind when the checkout fails.
      await git.succeed(cwd, ["branch", "--quiet", "--no-track", "--", branch, createAt]);
    }
    succeeded(await git.act(cwd, ["worktree", "add", "--quiet", "--", path, branch]));
  } catch (error) {
    const undisturbed = git.undisturbed();
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    await forget(undisturbed, cwd, path).catch(() => undefined);
    if (isNew) {
      const removal = ["branch", "--quiet", "--delete", "--force", "--", branch];
      await undisturbed.ask(cwd, removal).catch(() => undefined);
    }
    throw error;
  }
}

async function forget(git: GitProgram, cwd: string, path: string): Promise<void> {
  await git.succeed(cwd, ["worktree", "remove", "--force", "--", path]);
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
      // Another process was faster; then it is theirs to remove.
      if (!is(error, "EEXIST")) throw failure(error, `\`${folder}\``);
    }
  }
  return made;
}

/** A commit is named by its id and by nothing that git would have to interpret. */
function commitId(id: string): void {
  if (/^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(id)) return;
  throw new Failure("invalid", `${JSON.stringify(id)} is not the id of a commit`);
}
