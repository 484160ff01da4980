/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  Bytes,
} from "./vocabulary.js";

/**
 * A closed set of queries and changes; hosts perform them with libgit2 or the git program. Names of
 * branches, remotes and checkpoints are ones that git allows: they are judged before a host sees
 * them.
 */
export type GitRequest =
  /** Everything preflight needs to know → `survey`. */
  | {
      git: "survey";
      /** A folder, usually inside a repository. */
      cwd: string;
      /** The branch whose existence matters; empty: none does. */
      branch: string;
    }
  /**
   * Every worktree of the repository, the main one first → `worktrees`. Not a repository: an empty
   * list.
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
  /** Creates a linked worktree on `branch` → `done`. Leaves nothing behind on failure. */
  | {
      git: "create_worktree";
      /** A folder inside the repository. */
      cwd: string;
      /** Folder of the new worktree. */
      path: string;
      /** The branch to check out in it. */
      branch: string;
      /** The commit to create the branch at; `null` takes the existing branch. */
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
   * The best common ancestor of a commit and a branch → `commit`; `null` where they have none, or
   * where one of the two is not there. A commit is part of a branch when this is the commit itself.
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
   * The commit that a branch is at in a remote repository → `commit`; `null`: it has no such
   * branch. Asks the remote.
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
   * something to merge → `done`. `conflict` names the conflicting files, and is also the answer
   * when the branch is not at `commit` or a merge is in progress. After any failure everything is
   * as it was before, or the message says what is not. No hook runs, as with every other request
   * but `push`.
   */
  | {
      git: "merge";
      /**
       * The top folder of the checkout. Afterwards `into` is checked out there if it was before or
       * if `branch` was; otherwise the checkout stays on what it was on.
       */
      cwd: string;
      /** The branch to merge. */
      branch: string;
      /** The commit that it must be at. */
      commit: string;
      /** The branch to merge it into. */
      into: string;
    }
  /**
   * Pushes a branch to the branch of the same name in a remote repository and makes that its
   * upstream → `done`. Never forced; `conflict` when the remote branch has commits that the local
   * one does not. The only request that lets hooks run: what a `pre-push` hook refuses or uploads
   * is part of every push.
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
   * Keeps the files of the checkout at `cwd`, tracked and untracked ones that are not ignored,
   * without what is in its `.hotl`, as a commit that no branch shows → `checkpoint`. Branches,
   * HEAD, index and files of the checkout stay as they are; no hook runs, nothing is signed or
   * fetched. Outside a repository: `not_found`. Other programs in the configuration than expected:
   * `denied`.
   */
  | {
      git: "checkpoint";
      /** A folder inside the checkout. */
      cwd: string;
      /**
       * The file in which the host keeps what it knows of the checkout from one checkpoint to the
       * next; nothing there: it begins with what the checkout's own index says.
       */
      index: string;
      /** The name of the commit below `refs/onloop/`; what has it already loses it. */
      name: string;
      /** The commit before this one; `null`: the one at HEAD, if there is one. */
      parent: string | null;
      /** The message of the commit. */
      message: string;
      /** The time of the commit. Milliseconds since 1970. */
      at_ms: number;
      /**
       * Largest file that is kept; larger ones that git would not convert are left out and named.
       */
      limit_bytes: number;
      /** What `KeptWork.programs` has to be; `null`: anything. */
      programs: string | null;
    }
  /**
   * Makes the files of the checkout at `cwd` those of a checkpoint → `done`. Changes and removes
   * only files that the last checkpoint with this `index` kept; something else in the way:
   * `conflict`, and nothing is changed. Branches, HEAD and index of the checkout stay. Other
   * programs in the configuration than expected: `denied`.
   */
  | {
      git: "restore";
      /** A folder inside the checkout. */
      cwd: string;
      /** As in `checkpoint`. */
      index: string;
      /** The commit whose files are wanted. */
      commit: string;
      /** Only these files, relative to the top folder; the others stay as they are. None: all. */
      paths: string[];
      /** What `KeptWork.programs` has to be; `null`: anything. */
      programs: string | null;
    }
  /**
   * What changed between two commits, as a patch for people → `diff`. Longer than `limit_bytes`:
   * `too_large`.
   */
  | {
      git: "diff";
      /** A folder inside the repository. */
      cwd: string;
      /** The commit before. */
      from: string;
      /** The commit after. */
      to: string;
      /** Only how many lines of which file. */
      stat: boolean;
      /** Only these files, relative to the top folder; none: all. */
      paths: string[];
      /** Most bytes accepted. */
      limit_bytes: number;
    }
  /**
   * The paths that differ between two commits, relative to the root of the checkout, sorted; what
   * is not UTF-8 in them is replaced → `names`.
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
   * Makes the files of a checkpoint the next commit of a branch, by the identity and with the
   * signature that git is configured with, and lets the index of the checkout at `cwd` agree with
   * it where that has the branch checked out → `commit`. No file and no other branch changes, and
   * no hook runs. Where the branch has these files already, its own commit is the answer. The
   * branch is not at `head`: `conflict`.
   */
  | {
      git: "commit_kept";
      /** A folder inside the checkout. */
      cwd: string;
      /** A file that the host may use for itself. */
      index: string;
      /** The branch. */
      branch: string;
      /** The commit that it must be at. */
      head: string;
      /** The checkpoint's commit. */
      kept: string;
      /** Files of the checkpoint that stay out unless the branch has them already. */
      without: string[];
      /** The message of the commit. */
      message: string;
    }
  /**
   * Writes beside a commit, in `refs/notes/onloop`, what there is to say about it, instead of what
   * was said there before → `done`. No hook runs and nothing is signed.
   */
  | {
      git: "note";
      /** A folder inside the repository. */
      cwd: string;
      /** The commit. */
      commit: string;
      /** What there is to say. */
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
   * Takes a checkpoint's name away, so that git may forget the commit → `done`. It names another
   * commit by now: `conflict`.
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
   * Makes a commit that holds these files and nothing else → `commit`. It is ours and not the
   * user's, and nothing names it yet. No hook runs and nothing is signed.
   */
  | {
      git: "keep_files";
      /** A folder inside the repository. */
      cwd: string;
      /** The files, in no folders; a name that comes twice: `invalid`. */
      files: KeptFile[];
      /** The commit before this one; `null`: there is none. */
      parent: string | null;
      /** The message of the commit. */
      message: string;
      /** The time of the commit. Milliseconds since 1970. */
      at_ms: number;
    }
  /**
   * The content of one of the files that a commit of `keep_files` holds → `kept_file`. It holds
   * none of that name: `not_found`. Longer than `limit_bytes`: `too_large`. Nothing is fetched.
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
   * Changes names below `refs/onloop/` in a remote repository, all of them or none → `done`. One of
   * them does not name there what was expected: `conflict`, and it is said which. Of several who
   * expect the same one wins. Where the connection ends before the answer, the remote is asked what
   * came of it. A `pre-push` hook runs, as with `push`.
   */
  | {
      git: "push_refs";
      /** A folder inside the repository. */
      cwd: string;
      /** Name of a configured remote. */
      remote: string;
      /** What changes. */
      updates: RefUpdate[];
    }
  /**
   * Brings everything below `refs/onloop/<prefix>/` of a remote repository here, under names below
   * `refs/onloop/<prefix>/fetched/<remote>/`, where what was fetched before and is gone there goes
   * → `checkpoints`, with the names that they have at the remote below the prefix; none: the remote
   * has nothing there. No other name here changes and no hook runs.
   */
  | {
      git: "fetch_refs";
      /** A folder inside the repository. */
      cwd: string;
      /** Name of a configured remote. */
      remote: string;
      /** Where to look below `refs/onloop/`. */
      prefix: string;
    };

/** A file in a commit of `keep_files`. */
export interface KeptFile {
  /** Its name: letters, digits, `.`, `_` and `-`, not beginning with `.` or `-`. */
  name: string;
  /** The content. */
  bytes: Bytes;
}

/** What a name below `refs/onloop/` of a remote repository is to become. */
export interface RefUpdate {
  /** The name. */
  name: string;
  /** The commit that it must name there now; `null`: there must be no such name. */
  expected: string | null;
  /** The commit that it is to name; `null`: the name is taken away. */
  commit: string | null;
}

/** Facts about the folder a run is started in. */
export interface GitSurvey {
  /** `null`: not inside a repository, or a bare one. */
  repository: Repository | null;
}

/** Facts about a checkout. Paths are absolute, with symbolic links resolved. */
export interface Repository {
  /** Top folder of this checkout. */
  root: string;
  /**
   * Top folder of the main checkout; equal to `root` unless this one is linked. Where the main
   * repository is bare, its own folder.
   */
  main_root: string;
  /** Whether this checkout is a linked worktree. */
  linked: boolean;
  /** Name of the checked-out branch, even before its first commit; `null`: detached HEAD. */
  branch: string | null;
  /** Commit at HEAD; `null`: no commit yet. */
  head: string | null;
  /**
   * Every uncommitted path, relative to `root`, unquoted, sorted; untracked files one by one,
   * ignored files left out.
   */
  dirty: string[];
  /**
   * Commit of the branch asked about; `null`: there is no such branch, or git would not allow the
   * name.
   */
  target_commit: string | null;
  /**
   * Where the branch asked about is checked out. A worktree whose folder is gone holds no branch
   * unless it is locked.
   */
  target_checked_out_at: string | null;
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
  /** Its tree, hexadecimal: the same files have the same tree. */
  tree: string;
  /**
   * Digest, hexadecimal, of everything that the repository's own configuration names as a program
   * to run, for a checkpoint or for bringing one back; configuration of the user and of the system
   * does not count. Behind a plus sign: digest of the `pre-push` hook, or nothing.
   */
  programs: string;
  /** Files that should have been kept and were not, sorted by path. */
  left_out: LeftOut[];
}

/** A file that a checkpoint does not have. */
export interface LeftOut {
  /** Its path relative to the root of the checkout; what is not UTF-8 in it is replaced. */
  path: string;
  /** Why. */
  why: LeftOutReason;
}

/** Why a checkpoint does not have a file. */
export type LeftOutReason =
  /** It is larger than the limit. */
  | "too_large"
  /** It may not be read. */
  | "unreadable"
  /** It is a repository without a commit, of which git keeps nothing. */
  | "no_commit";

/** A commit below `refs/onloop/`. */
export interface NamedCheckpoint {
  /** Its name there. */
  name: string;
  /** Its id, hexadecimal. */
  commit: string;
  /** When it was made. Milliseconds since 1970. */
  at_ms: number;
}
