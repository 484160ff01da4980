/** Merges completely, or leaves the checkout as it was. */

import { rm } from "node:fs/promises";
import { Failure } from "../failure.js";
import { commit, demandUnlocked, headBranch, layoutOf } from "./git_checkout.js";
import { demandIntact } from "./git_integrity.js";
import { mergeNote, noteMerge, recoverMerge } from "./git_interrupted_merge.js";
import { fields, shown } from "./git_paths.js";
import { changeFiles, checkOut } from "./git_rollback.js";
import {
  type Answer,
  type GitAsked,
  type GitProgram,
  commandFailure,
  line,
  succeeded,
} from "./git_program.js";
import { rollbackFailed } from "./git_errors.js";

/** The best common ancestor of a commit and a branch. */
export async function mergeBase(
  git: GitProgram,
  cwd: string,
  { commit: id, branch }: Pick<GitAsked<"merge_base">, "commit" | "branch">,
): Promise<string | undefined> {
  const tip = `refs/heads/${branch}`;
  if ((await commit(git, cwd, id)) === undefined) return undefined;
  if ((await commit(git, cwd, tip)) === undefined) return undefined;
  const answer = await git.query(cwd, ["merge-base", id, tip]);
  if (answer.exit > 1) throw commandFailure(answer);
  return answer.exit === 1 ? undefined : line(answer.stdout);
}

/**
 * Merges; a merge that fails leaves everything as it was. What a killed merge of the same commit left is
 * restored first.
 */
export async function merge(git: GitProgram, cwd: string, wanted: GitAsked<"merge">): Promise<void> {
  const { root } = await layoutOf(git, cwd);
  const { branch, into } = wanted;
  const found = await commit(git, root, `refs/heads/${branch}`);
  if (found !== wanted.commit) {
    const what = `branch \`${branch}\` is at ${found ?? "nothing"}`;
    throw new Failure("conflict", `${what}, expected ${wanted.commit}`);
  }
  await demandIntact(git, root, wanted.commit, `refs/heads/${into}`);
  const recovered = await recoverMerge(git, root, wanted);
  if ((await commit(git, root, "MERGE_HEAD")) !== undefined) {
    const what = "is in the middle of a merge; `git merge --abort` ends it";
    throw new Failure("conflict", `\`${root}\` ${what}`);
  }
  await demandUnlocked(git, root, ["HEAD", `refs/heads/${into}`]);
  const before = recovered === undefined ? await checkedOut(git, root) : parsed(recovered);
  const note = await noteMerge(git, root, wanted.commit, written(before));
  try {
    await mergeFrom(git, root, wanted, before);
    await rm(note, { force: true });
  } catch (error) {
    // Whether everything was restored after git was ended early is looked at by the next merge.
    const wasEndedEarly = error instanceof Failure && ["interrupted", "unknown", "other"].includes(error.kind);
    if (!wasEndedEarly) await rm(note, { force: true });
    throw error;
  }
}

/** Restores the checkout that a killed merge of the same commit left. */
export async function undoKilledMerge(
  git: GitProgram,
  cwd: string,
  wanted: GitAsked<"recover_merge">,
): Promise<void> {
  const { root } = await layoutOf(git, cwd);
  const recovered = await recoverMerge(git, root, wanted);
  if (recovered === undefined) return;
  const before = parsed(recovered);
  const base = await mergeBase(git, root, { commit: wanted.commit, branch: wanted.into });
  const stays = before.branch === wanted.branch && base === wanted.commit;
  if (!stays && written(await checkedOut(git, root)) !== recovered) await goBack(git, root, before);
  await rm(await mergeNote(git, root), { force: true });
}

async function mergeFrom(
  git: GitProgram,
  root: string,
  wanted: GitAsked<"merge">,
  before: Before,
): Promise<void> {
  const { branch, into } = wanted;
  if ((await headBranch(git, root)) !== into) await checkOut(git, root, [into], `refs/heads/${into}`);
  const returns = before.branch !== into;
  try {
    await mergeHere(git, root, wanted);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // An interrupted merge is undone as well.
    throw await undo(git.uninterruptible(), root, error, returns ? before : undefined);
  }
  // A person who was on the merged branch continues from the result.
  if (!returns || before.branch === branch) return;
  await goBack(git, root, before).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    const done = `\`${branch}\` is in \`${into}\` now, and \`${root}\` stays on \`${into}\``;
    throw new Failure(error.kind, `${done}: ${error.message}`);
  });
}

/** Merges into the branch that is checked out. */
async function mergeHere(git: GitProgram, root: string, wanted: GitAsked<"merge">): Promise<void> {
  const tip = `refs/heads/${wanted.branch}`;
  const message = mergeMessage(wanted.branch, wanted.into);
  const words = ["merge", "--quiet", "--no-ff", "-m", message, "--", tip];
  const answer = await changeFiles(git, root, words, wanted.commit);
  if (answer.exit !== 0) throw await explain(git.uninterruptible(), root, wanted, answer);
}

/** As git writes it for the short name of a branch. */
function mergeMessage(branch: string, into: string): string {
  const target = into === "main" || into === "master" ? "" : ` into ${into}`;
  return `Merge branch '${branch}'${target}`;
}

interface Before {
  /** `undefined`: HEAD is detached. */
  branch: string | undefined;
  commit: string;
}

/** A branch ref, or the commit of a detached HEAD. */
function written({ branch, commit: id }: Before): string {
  return branch === undefined ? id : `refs/heads/${branch}`;
}

/** What {@link written} wrote. */
function parsed(text: string): Before {
  const base = "refs/heads/";
  return text.startsWith(base) ? { branch: text.slice(base.length), commit: "" } : { branch: undefined, commit: text };
}

async function checkedOut(git: GitProgram, root: string): Promise<Before> {
  const branch = await headBranch(git, root);
  const id = await commit(git, root, "HEAD");
  if (id === undefined && branch === undefined) {
    throw new Failure("invalid", `\`${root}\` has no commit checked out`);
  }
  return { branch, commit: id ?? "" };
}

function goBack(git: GitProgram, root: string, { branch, commit: id }: Before): Promise<void> {
  if (branch === undefined) return checkOut(git, root, ["--detach", id], id);
  return checkOut(git, root, [branch], `refs/heads/${branch}`);
}

/** Aborts the merge; the failure says what could not be restored. */
async function undo(
  git: GitProgram,
  root: string,
  failure: Failure,
  before?: Before,
): Promise<Failure> {
  try {
    if ((await commit(git, root, "MERGE_HEAD")) !== undefined) {
      succeeded(await git.run(root, ["merge", "--abort"]));
    }
    if (before !== undefined) await goBack(git, root, before);
    return failure;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return rollbackFailed(failure, root, error);
  }
}

/** The failure of a merge, with the conflicting files; called before the merge is aborted. */
async function explain(
  git: GitProgram,
  root: string,
  { branch, into }: GitAsked<"merge">,
  answer: Answer,
): Promise<Failure> {
  const unmerged = await git.succeed(root, ["diff", "--name-only", "--diff-filter=U", "-z"]);
  const files = fields(unmerged).map((path) => `\`${shown(path)}\``);
  if (files.length === 0) return commandFailure(answer);
  const what = `changed the same lines of ${files.join(", ")}`;
  return new Failure("conflict", `\`${branch}\` and \`${into}\` ${what}`);
}
