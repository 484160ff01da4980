/** What a person reads while git works for more than a moment. */

import type { Git } from "../host.js";

/** What takes less is not worth a line; a busy machine is no news. */
const SILENT_MS = 2000;

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

/** `git`, which says what it does where that takes long. */
export function withWords(git: Git, say: (line: string) => Promise<void>): Git {
  return new Proxy(git, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      const words = WORDS[name as keyof Git];
      return async (...given: unknown[]): Promise<unknown> => {
        const speak = (): void => void say(`  ${words} …\n`).catch(() => undefined);
        const timer = words === undefined ? undefined : setTimeout(speak, SILENT_MS);
        try {
          return await Reflect.apply(member, target, given);
        } finally {
          clearTimeout(timer);
        }
      };
    },
  });
}
