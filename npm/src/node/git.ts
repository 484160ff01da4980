/** Performs git requests with the git program, version 2.36 or newer. */

import { Failure } from "../failure.js";
import type { GitRequest, Outcome } from "../vocabulary.js";
import { unknownRequest } from "./errors.js";
import { commit } from "./git_checkout.js";
import { changedPaths, checkpoint, checkpoints, diff, forgetCheckpoint, note, restore } from "./git_checkpoint.js";
import { commitKept } from "./git_commit.js";
import { switchTo } from "./git_rollback.js";
import { merge, mergeBase, undoKilledMerge } from "./git_merge.js";
import { GitProgram } from "./git_program.js";
import { push, remoteBranch } from "./git_remote.js";
import { fetchRefs, keepFiles, pushRefs, readKept } from "./git_shared.js";
import { stash } from "./git_stash.js";
import { createWorktree, deleteBranch, removeWorktree, survey, worktrees } from "./git_worktrees.js";
import type { Interrupts } from "./interrupts.js";
import { GitProcesses } from "./git_processes.js";
import type { Root } from "./root.js";

/** Replies for a folder outside any repository. */
const OUTSIDE: Partial<Record<GitRequest["git"], Outcome>> = {
  survey: { is: "survey", repository: null },
  worktrees: { is: "worktrees", worktrees: [] },
  head: { is: "commit", commit: null },
  checkpoints: { is: "checkpoints", checkpoints: [] },
};

/** Members of requests that hold commit ids. */
const COMMITS = new Set(["commit", "create_at", "expected", "from", "head", "kept", "parent", "to", "tree"]);

export class NodeGit {
  readonly #root: Root;
  readonly #programs: GitProcesses;
  readonly #git: GitProgram;

  /** An interrupt ends git. No git command runs longer than `timeoutMs`. */
  constructor(root: Root, interrupts?: Interrupts, timeoutMs?: number) {
    this.#root = root;
    this.#programs = new GitProcesses(interrupts);
    this.#git = new GitProgram(this.#programs, timeoutMs);
  }

  /** Ends running git commands before this process exits, and lets them remove their locks. */
  endNow(): void {
    this.#programs.endNow();
  }

  async perform(request: GitRequest): Promise<Outcome> {
    demandCommits(request);
    const cwd = this.#root.resolve(request.cwd);
    if (await this.#git.isInRepository(cwd)) return this.#inside(cwd, request);
    const outcome = OUTSIDE[request.git];
    if (outcome !== undefined) return outcome;
    throw new Failure("not_found", `\`${cwd}\` is not inside a git repository`);
  }

  async #inside(cwd: string, request: GitRequest): Promise<Outcome> {
    const git = this.#git;
    switch (request.git) {
      case "survey":
        return { is: "survey", repository: await survey(git, cwd, request.branch) };
      case "worktrees":
        return { is: "worktrees", worktrees: await worktrees(git, cwd) };
      case "head":
        return { is: "commit", commit: (await commit(git, cwd, "HEAD")) ?? null };
      case "merge_base":
        return { is: "commit", commit: (await mergeBase(git, cwd, request)) ?? null };
      case "remote_branch":
        return { is: "commit", commit: (await remoteBranch(git, cwd, request)) ?? null };
      case "checkpoint":
        return { is: "checkpoint", ...(await checkpoint(git, cwd, this.#withIndex(request))) };
      case "diff":
        return { is: "diff", bytes: await diff(git, cwd, request) };
      case "changed_paths":
        return { is: "names", names: await changedPaths(git, cwd, request) };
      case "commit_kept":
        return { is: "commit", commit: await commitKept(git, cwd, this.#withIndex(request)) };
      case "checkpoints":
        return { is: "checkpoints", checkpoints: await checkpoints(git, cwd) };
      case "keep_files":
        return { is: "commit", commit: await keepFiles(git, cwd, request) };
      case "read_kept":
        return { is: "kept_file", bytes: await readKept(git, cwd, request) };
      case "fetch_refs":
        return { is: "checkpoints", checkpoints: await fetchRefs(git, cwd, request) };
      case "create_worktree":
        await createWorktree(git, cwd, { ...request, path: this.#root.resolve(request.path) });
        break;
      case "remove_worktree":
        await removeWorktree(git, cwd, this.#root.resolve(request.path));
        break;
      case "switch":
        await switchTo(git, cwd, request);
        break;
      case "delete_branch":
        await deleteBranch(git, cwd, request.branch);
        break;
      case "merge":
        await merge(git, cwd, request);
        break;
      case "recover_merge":
        await undoKilledMerge(git, cwd, request);
        break;
      case "push":
        await push(git, cwd, request);
        break;
      case "stash":
        await stash(git, cwd, request);
        break;
      case "restore":
        await restore(git, cwd, this.#withIndex(request));
        break;
      case "forget_checkpoint":
        await forgetCheckpoint(git, cwd, request);
        break;
      case "note":
        await note(git, cwd, request);
        break;
      case "push_refs":
        await pushRefs(git, cwd, request);
        break;
      case "import_pack":
        throw new Failure("unsupported", "Node confines nothing, so no confined git has packed anything");
      default:
        return unknownRequest(request);
    }
    return { is: "done" };
  }

  #withIndex<R extends { index: string }>(request: R): R {
    return { ...request, index: this.#root.resolve(request.index) };
  }
}

/** Refuses anything but commit ids, so that git never interprets a name. */
function demandCommits(request: GitRequest): void {
  const documents = [request, ...(request.git === "push_refs" ? request.updates : [])];
  for (const [name, value] of documents.flatMap((document) => Object.entries(document))) {
    if (!COMMITS.has(name) || value === null || /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(String(value))) continue;
    throw new Failure("invalid", `${JSON.stringify(value)} is not the id of a commit`);
  }
}
