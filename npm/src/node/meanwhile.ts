/** What a person sees while git works for more than a moment. */

import type { GitRequest } from "../vocabulary.js";
import type { NewStatusLine } from "./processes.js";

/** What takes less is not worth a word. */
const SILENT_MS = 1000;
/** The same where a line stays: a busy machine is no news. */
const SILENT_LINES_MS = 2000;

/** The words are those of `GitRequest::doing` in core. */
const WORDS: Partial<Record<GitRequest["git"], string>> = {
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

/** Does `work`, and says so where it takes long: in a status line, or in a line that stays. */
export async function withWords<T>(
  asked: GitRequest["git"],
  work: () => Promise<T>,
  say: (line: string) => Promise<void>,
  statusLine: NewStatusLine,
): Promise<T> {
  const words = WORDS[asked];
  if (words === undefined) return work();
  const live = statusLine(words, performance.now());
  const speak = (): void => {
    if (live) live.show();
    else say(`  ${words} …\n`).catch(() => undefined);
  };
  const timer = setTimeout(speak, live ? SILENT_MS : SILENT_LINES_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    live?.hide();
  }
}
