/** Shows what git does when that takes longer than a second. */

import type { GitRequest } from "../vocabulary.js";
import type { NewStatusLine } from "./processes.js";

/** The status line appears after this time. */
const STATUS_AFTER_MS = 1000;
/** Without a terminal the line stays, so it appears later. */
const LINE_AFTER_MS = 2000;

/** Equal to `GitRequest::doing` in core. */
const LABELS: Partial<Record<GitRequest["git"], string>> = {
  survey: "looking at the checkout",
  create_worktree: "checking out the worktree",
  remove_worktree: "removing the worktree",
  switch: "switching branches",
  remote_branch: "asking the remote",
  merge: "merging",
  push: "pushing",
  stash: "stashing",
  checkpoint: "keeping the work",
  restore: "bringing files back",
  diff: "comparing",
  commit_kept: "committing",
};

/** Does `work`, and shows a status line or prints a line when it takes long. */
export async function withProgress<T>(
  asked: GitRequest["git"],
  work: () => Promise<T>,
  say: (line: string) => Promise<void>,
  statusLine: NewStatusLine,
): Promise<T> {
  const label = LABELS[asked];
  if (label === undefined) return work();
  const live = statusLine(label, performance.now());
  const show = (): void => {
    if (live) live.show();
    else say(`  ${label} …\n`).catch(() => undefined);
  };
  const timer = setTimeout(show, live ? STATUS_AFTER_MS : LINE_AFTER_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    live?.hide();
  }
}
