/** What a person sees while git works for more than a moment. */

import type { Git } from "../host.js";
import type { StatusLine } from "./status_line.js";

/** What takes less is not worth a word. */
const SILENT_MS = 1000;
/** The same where a line stays: a busy machine is no news. */
const SILENT_LINES_MS = 2000;

/** The words are those of `GitRequest::doing` in core. */
const WORDS: Partial<Record<keyof Git, string>> = {
  survey: "looking at the checkout",
  createWorktree: "checking out the worktree",
  removeWorktree: "removing the worktree",
  switch: "switching branches",
  remoteBranch: "asking the remote",
  merge: "merging",
  push: "pushing",
  stash: "stashing",
  checkpoint: "keeping the work",
  restore: "bringing files back",
  diff: "comparing",
  commitKept: "committing",
};

/** `git`, which says what it does where that takes long: in a status line, or in a line that stays. */
export function withWords(
  git: Git,
  say: (line: string) => Promise<void>,
  statusLine: (label: string, started: number) => StatusLine | undefined,
): Git {
  const begin = (words: string): (() => void) => {
    const live = statusLine(words, performance.now());
    const speak = (): void => {
      if (live) live.show();
      else say(`  ${words} …\n`).catch(() => undefined);
    };
    const timer = setTimeout(speak, live ? SILENT_MS : SILENT_LINES_MS);
    return () => {
      clearTimeout(timer);
      live?.hide();
    };
  };
  return new Proxy(git, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const words = WORDS[name as keyof Git];
      return async (...given: unknown[]): Promise<unknown> => {
        const end = words === undefined ? undefined : begin(words);
        try {
          return await Reflect.apply(member, target, given);
        } finally {
          end?.();
        }
      };
    },
  });
}
