/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  Bytes,
} from "./vocabulary.js";

/**
 * A closed set of queries and changes. Hosts perform them with the git program. Names of branches,
 * remotes and checkpoints are valid git names: core refuses others before a host sees them.
 */
export type GitRequest =
  /** The facts that preflight needs → `survey`. */
  | {
      git: "survey";
      /** A folder, usually inside a repository. */
      cwd: string;
      /** The branch whose existence matters; empty: no branch. */
      branch: string;
    }
  /**
   * Every worktree of the repository, the main one first → `worktrees`. Outside a repository the
   * list is empty.
   */
  | {
      git: "worktrees";
      /** A folder inside the repository. */
      cwd: string;
    }
  /** The commit at HEAD, hexadecimal → `commit`. */
  | {
      git: "head";
      /** A folder inside the repository. */
      cwd: string;
    }
  /** Creates a linked worktree on `branch` → `done`. A failure leaves nothing behind. */
  | {
      git: "create_worktree";
      /** A folder inside the repository. */
      cwd: string;
      /** Folder of the new worktree. */
      path: string;
      /** The branch to check out in it. */
      branch: string;
      /** The commit at which to create the branch; `null` takes the existing branch. */
      create_at: string | null;
    }
  /** Removes a linked worktree and its folder → `done`. */
  | {
      git: "remove_worktree";
      /** A folder inside the repository. */
      cwd: string;
      /** The worktree. */
      path: string;
    }
  /** Switches the checkout at `cwd` to `branch` → `done`. */
  | {
      git: "switch";
      /** A folder inside the checkout. */
      cwd: string;
      /** The branch. */
      branch: string;
      /** Whether to create it at HEAD first. */
      create: boolean;
    }
  /** Deletes a local branch that is not checked out, merged or not → `done`. */
  | {
      git: "delete_branch";
      /** A folder inside the repository. */
      cwd: string;
      /** The branch. */
      branch: string;
    }
  /**
   * The best common ancestor of a commit and a branch → `commit`; `null` without one, or if the
   * commit or the branch is missing. The commit itself: the branch contains it.
   */
  | {
      git: "merge_base";
      /** A folder inside the repository. */
      cwd: string;
      /** The id of the commit. */
      commit: string;
      /** The local branch. */
      branch: string;
    }
  /**
   * The commit of a branch in a remote repository → `commit`; `null` without such a branch. Asks
   * the remote.
   */
  | {
      git: "remote_branch";
      /** A folder inside the repository. */
      cwd: string;
      /** Name of a configured remote. */
      remote: string;
      /** The branch. */
      branch: string;
    }
  /**
   * Merges a branch into another in the checkout at `cwd`, with a merge commit whenever there is
   * something to merge → `done`. `conflict` names the conflicting files, and also answers if the
   * branch is not at `commit` or a merge is in progress. A failure restores the state before, or
   * its message names the difference. No hook runs, as with every request except the pushes.
   */
  | {
      git: "merge";
      /**
       * The top folder of the checkout. Afterwards `into` is checked out there if `into` or
       * `branch` was checked out before; otherwise the checkout keeps its branch.
       */
      cwd: string;
      /** The branch to merge. */
      branch: string;
      /** The expected commit of the branch. */
      commit: string;
      /** The target branch. */
      into: string;
    }
  /**
   * Restores what a killed `merge` with the same members left in the checkout at `cwd`; without one
   * nothing happens → `done`. `conflict` if a person changed a file since; `busy` while a git works
   * there.
   */
  | {
      git: "recover_merge";
      /** The top folder of the checkout. */
      cwd: string;
      /** The branch that was merged. */
      branch: string;
      /** Its commit. */
      commit: string;
      /** The target branch. */
      into: string;
    }
  /**
   * Pushes a branch to the branch of the same name in a remote repository and makes that its
   * upstream → `done`. The push is never forced; `conflict` if the remote branch has commits that
   * the local one lacks. The repository's `pre-push` hook runs and can refuse.
   */
  | {
      git: "push";
      /** A folder inside the repository. */
      cwd: string;
      /** Name of a configured remote. */
      remote: string;
      /** The branch. */
      branch: string;
    }
  /** Stashes tracked and untracked changes of `paths` → `done`. */
  | {
      git: "stash";
      /** A folder inside the checkout. */
      cwd: string;
      /** Message of the stash entry. */
      message: string;
      /** Paths relative to the root of the checkout. */
      paths: string[];
    }
  /**
   * Stores the files of the checkout at `cwd` in a commit that no branch contains → `checkpoint`.
   * It contains tracked and untracked files, without ignored ones and without `.hotl`. Branches,
   * HEAD, index and files of the checkout stay. No hook runs, and git signs and fetches nothing.
   * Outside a repository: `not_found`. If the configuration names other programs than expected:
   * `denied`.
   */
  | {
      git: "checkpoint";
      /** A folder inside the checkout. */
      cwd: string;
      /**
       * The index file that the host keeps between checkpoints. If it is missing, the host begins
       * with the checkout's own index.
       */
      index: string;
      /** The name of the commit below `refs/onloop/`. A commit that has this name loses it. */
      name: string;
      /** The parent commit; `null`: the commit at HEAD, if there is one. */
      parent: string | null;
      /** The message of the commit. */
      message: string;
      /** The time of the commit. Milliseconds since 1970. */
      at_ms: number;
      /** Largest file to store. Larger files that git does not convert are left out and named. */
      limit_bytes: number;
      /** The expected value of `KeptWork.programs`; `null`: any value. */
      programs: string | null;
    }
  /**
   * Makes the files of the checkout at `cwd` those of a checkpoint → `done`. Changes and removes
   * only files of the last checkpoint with this `index`. If another file blocks the way:
   * `conflict`, and nothing changes. Branches, HEAD and index of the checkout stay. If the
   * configuration names other programs than expected: `denied`.
   */
  | {
      git: "restore";
      /** A folder inside the checkout. */
      cwd: string;
      /** As in `checkpoint`. */
      index: string;
      /** The commit whose files to restore. */
      commit: string;
      /** Only these files, relative to the top folder; the others stay. Empty: all. */
      paths: string[];
      /** The expected value of `KeptWork.programs`; `null`: any value. */
      programs: string | null;
    }
  /**
   * The difference between two commits, as a patch for people → `diff`. Longer than `limit_bytes`:
   * `too_large`.
   */
  | {
      git: "diff";
      /** A folder inside the repository. */
      cwd: string;
      /** The old commit. */
      from: string;
      /** The new commit. */
      to: string;
      /** Whether to return only the number of changed lines of each file. */
      stat: boolean;
      /** Only these files, relative to the top folder; empty: all. */
      paths: string[];
      /** Most bytes accepted. */
      limit_bytes: number;
    }
  /**
   * The paths that differ between two commits, relative to the root of the checkout, sorted →
   * `names`. A name that is not UTF-8 is written as `name_text` does, here and in every other list
   * of files; requests take it so.
   */
  | {
      git: "changed_paths";
      /** A folder inside the repository. */
      cwd: string;
      /** One commit. */
      from: string;
      /** The other commit. */
      to: string;
    }
  /**
   * Makes the files of a checkpoint the next commit of a branch → `commit`. Identity and signature
   * are those that git is configured with. If the checkout at `cwd` has the branch checked out, its
   * index follows. No file and no other branch changes, and no hook runs. If the branch has these
   * files already, the answer is its commit. If the branch is not at `head`: `conflict`.
   */
  | {
      git: "commit_kept";
      /** A folder inside the checkout. */
      cwd: string;
      /** An index file for the host's own use. */
      index: string;
      /** The branch. */
      branch: string;
      /** The expected commit of the branch. */
      head: string;
      /** The checkpoint's commit. */
      kept: string;
      /** Files of the checkpoint to leave out, unless the branch has them already. */
      without: string[];
      /** The message of the commit. */
      message: string;
    }
  /**
   * Takes commits from a pack that an untrusted git wrote, and moves a branch to the last of them →
   * `done`. Git checks every object and that none is missing; a pack with a fault changes nothing:
   * `conflict`. If the checkout at `cwd` has the branch checked out, its index becomes `tree`. No
   * file and no other branch changes, and no hook runs. If the branch is at `commit` already, only
   * the index follows. If it is at neither `commit` nor `head`: `conflict`.
   */
  | {
      git: "import_pack";
      /** The top folder of the checkout. */
      cwd: string;
      /** The pack: a plain file of at most `IMPORT_PACK_BYTES`, or `too_large`. */
      pack: string;
      /** The branch. */
      branch: string;
      /** The expected commit of the branch. */
      head: string;
      /** The new commit of the branch. */
      commit: string;
      /** The tree of the index. */
      tree: string;
    }
  /**
   * Writes the note of a commit in `refs/notes/onloop`, in place of an earlier note → `done`. No
   * hook runs and git signs nothing.
   */
  | {
      git: "note";
      /** A folder inside the repository. */
      cwd: string;
      /** The commit. */
      commit: string;
      /** The note. */
      text: string;
      /** The time of the note. Milliseconds since 1970. */
      at_ms: number;
    }
  /** Every commit below `refs/onloop/`, by name → `checkpoints`. Outside a repository: none. */
  | {
      git: "checkpoints";
      /** A folder inside the repository. */
      cwd: string;
    }
  /**
   * Removes the name of a checkpoint, so that git may collect the commit → `done`. If the name
   * points to another commit: `conflict`.
   */
  | {
      git: "forget_checkpoint";
      /** A folder inside the repository. */
      cwd: string;
      /** Its name below `refs/onloop/`. */
      name: string;
      /** The commit that it names. */
      commit: string;
    }
  /**
   * Makes a commit that contains exactly these files → `commit`. Its author is onloop. No hook runs
   * and git signs nothing.
   */
  | {
      git: "keep_files";
      /** A folder inside the repository. */
      cwd: string;
      /** The files, not in folders. A duplicate name: `invalid`. */
      files: KeptFile[];
      /**
       * The name of the commit below `refs/onloop/`. A commit that has this name loses it. `null`:
       * no name points to it yet.
       */
      name: string | null;
      /** The parent commit; `null`: no parent. */
      parent: string | null;
      /** The message of the commit. */
      message: string;
      /** The time of the commit. Milliseconds since 1970. */
      at_ms: number;
    }
  /**
   * The content of a file in a commit of `keep_files` → `kept_file`. No such file: `not_found`.
   * Longer than `limit_bytes`: `too_large`. Git fetches nothing.
   */
  | {
      git: "read_kept";
      /** A folder inside the repository. */
      cwd: string;
      /** The commit. */
      commit: string;
      /** The name of the file. */
      name: string;
      /** Most bytes accepted. */
      limit_bytes: number;
    }
  /**
   * Changes names below `refs/onloop/` in a remote repository, all of them or none → `done`. If a
   * name does not point to the expected commit: `conflict`, and the message says which. Of several
   * callers with the same expectation one wins. If the connection ends before the answer, the host
   * asks the remote for the result. A `pre-push` hook runs, as with `push`.
   */
  | {
      git: "push_refs";
      /** A folder inside the repository. */
      cwd: string;
      /** Name of a configured remote. */
      remote: string;
      /** The changes. */
      updates: RefUpdate[];
    }
  /**
   * Fetches everything below `refs/onloop/<prefix>/` of a remote repository into
   * `refs/onloop/<prefix>/fetched/<remote>/` → `checkpoints`. Names that the remote no longer has
   * are removed there. The answer has the names at the remote, without the prefix; it is empty if
   * the remote has none. No other name changes and no hook runs.
   */
  | {
      git: "fetch_refs";
      /** A folder inside the repository. */
      cwd: string;
      /** Name of a configured remote. */
      remote: string;
      /** The prefix below `refs/onloop/`. */
      prefix: string;
    };

/** A file in a commit of `keep_files`. */
export interface KeptFile {
  /** Its name: letters, digits, `.`, `_` and `-`, not beginning with `.` or `-`. */
  name: string;
  /** The content. */
  bytes: Bytes;
}

/** A change of one name below `refs/onloop/` in a remote repository. */
export interface RefUpdate {
  /** The name. */
  name: string;
  /** The commit that the name must point to; `null`: the name must not exist. */
  expected: string | null;
  /** The new commit; `null`: remove the name. */
  commit: string | null;
}

/** Facts about the folder in which a run starts. */
export interface GitSurvey {
  /** `null`: outside a repository, or in a bare one. */
  repository: Repository | null;
}

/** Facts about a checkout. Paths are absolute, with symbolic links resolved. */
export interface Repository {
  /** Top folder of this checkout. */
  root: string;
  /**
   * Top folder of the main checkout; equal to `root` unless this checkout is linked. For a bare
   * main repository, its own folder.
   */
  main_root: string;
  /** Whether this checkout is a linked worktree. */
  linked: boolean;
  /** Name of the checked-out branch, even before its first commit; `null`: detached HEAD. */
  branch: string | null;
  /** Commit at HEAD; `null`: no commit yet. */
  head: string | null;
  /**
   * Every uncommitted path, relative to `root`, unquoted, sorted. Untracked files are named one by
   * one, ignored files are left out.
   */
  dirty: string[];
  /** Commit of the requested branch; `null`: it does not exist, or git refuses the name. */
  target_commit: string | null;
  /**
   * The checkout of the requested branch. A worktree whose folder is gone holds no branch unless it
   * is locked.
   */
  target_checked_out_at: string | null;
  /**
   * A branch beside which git cannot create the requested one, because one name is a leading part
   * of the other.
   */
  target_blocked_by: string | null;
}

/** One worktree of a repository. */
export interface WorktreeEntry {
  /** Its top folder, absolute. */
  path: string;
  /** Its branch; `null`: detached HEAD. */
  branch: string | null;
}

/** The files of a checkout at one moment. */
export interface KeptWork {
  /** The commit, hexadecimal. */
  commit: string;
  /** Its tree, hexadecimal: equal files have equal trees. */
  tree: string;
  /**
   * Digest, hexadecimal, of every program that the repository's own configuration names for making
   * or restoring a checkpoint. The user's and the system's configuration do not count. After a plus
   * sign: digest of the `pre-push` hook, or nothing.
   */
  programs: string;
  /** Files that belong in the checkpoint and are missing, sorted by path. */
  left_out: LeftOut[];
}

/** A file that is missing in a checkpoint. */
export interface LeftOut {
  /** Its path relative to the root of the checkout, written as `name_text` does. */
  path: string;
  /** The reason. */
  why: LeftOutReason;
}

/** Why a file is missing in a checkpoint. */
export type LeftOutReason =
  /** It is larger than the limit. */
  | "too_large"
  /** onloop may not read it. */
  | "unreadable"
  /** It is a repository without a commit, which git cannot store. */
  | "no_commit";

/** A commit below `refs/onloop/`. */
export interface NamedCheckpoint {
  /** Its name there. */
  name: string;
  /** Its id, hexadecimal. */
  commit: string;
  /** The time of the commit. Milliseconds since 1970. */
  at_ms: number;
}
