/** Merging: completely, or not at all. */

import { Failure } from "../failure.js";
import { checkOut, commit, demandUnlocked, headBranch, layoutOf } from "./git_checkout.js";
import { type Answer, ask, complaint, line, succeed, untilNul } from "./git_program.js";

/** What is merged into what. */
export interface Merge {
  branch: string;
  /** The commit that the branch must be at. */
  commit: string;
  into: string;
}

/** The best common ancestor of a commit and a branch. */
export async function mergeBase(
  cwd: string,
  id: string,
  branch: string,
): Promise<string | undefined> {
  const tip = `refs/heads/${branch}`;
  if ((await commit(cwd, id)) === undefined) return undefined;
  if ((await commit(cwd, tip)) === undefined) return undefined;
  const answer = await ask(cwd, ["merge-base", id, tip]);
  if (answer.exit > 1) throw complaint(answer);
  return answer.exit === 1 ? undefined : line(answer.stdout);
}

/** Merges, and leaves everything as it was when that cannot be done. */
export async function merge(cwd: string, wanted: Merge): Promise<void> {
  const { root } = await layoutOf(cwd);
  if ((await commit(root, "MERGE_HEAD")) !== undefined) {
    const what = "is in the middle of a merge; `git merge --abort` ends it";
    throw new Failure("conflict", `\`${root}\` ${what}`);
  }
  const tip = `refs/heads/${wanted.branch}`;
  const found = await commit(root, tip);
  if (found !== wanted.commit) {
    const what = `branch \`${wanted.branch}\` is at ${found ?? "nothing"}`;
    throw new Failure("conflict", `${what}, expected ${wanted.commit}`);
  }
  await demandUnlocked(root, ["HEAD", `refs/heads/${wanted.into}`]);
  const before = await checkedOut(root);
  const elsewhere = before.branch !== wanted.into;
  if (elsewhere) await checkOut(root, [wanted.into]);
  const answer = await ask(root, ["merge", "--quiet", "--no-ff", "--no-edit", "--", tip]);
  if (answer.exit !== 0) {
    const failure = await explain(root, wanted, answer);
    throw await undo(root, failure, elsewhere ? before : undefined);
  }
  // Whoever worked on the merged branch continues from the result.
  if (elsewhere && before.branch !== wanted.branch) await goBack(root, before);
}

interface Before {
  /** Nothing: detached. */
  branch: string | undefined;
  commit: string;
}

async function checkedOut(root: string): Promise<Before> {
  const branch = await headBranch(root);
  const id = await commit(root, "HEAD");
  if (id === undefined && branch === undefined) {
    throw new Failure("invalid", `\`${root}\` has no commit checked out`);
  }
  return { branch, commit: id ?? "" };
}

function goBack(root: string, { branch, commit: id }: Before): Promise<void> {
  return checkOut(root, branch === undefined ? ["--detach", id] : [branch]);
}

/** Aborts the merge; the failure says what could not be restored. */
async function undo(root: string, failure: Failure, before?: Before): Promise<Failure> {
  try {
    if ((await commit(root, "MERGE_HEAD")) !== undefined) await succeed(root, ["merge", "--abort"]);
    if (before !== undefined) await goBack(root, before);
    return failure;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const left = `\`${root}\` was left as it is: ${error.message}`;
    return new Failure(failure.kind, `${failure.message}; and ${left}`);
  }
}

/** Names the conflicting files; called before the merge is aborted. */
async function explain(root: string, { branch, into }: Merge, answer: Answer): Promise<Failure> {
  const unmerged = await succeed(root, ["diff", "--name-only", "--diff-filter=U", "-z"]);
  const files = untilNul(unmerged).map((path) => `\`${path}\``);
  if (files.length === 0) return complaint(answer);
  const what = `changed the same lines of ${files.join(", ")}`;
  return new Failure("conflict", `\`${branch}\` and \`${into}\` ${what}`);
}
