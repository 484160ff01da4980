/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  Bytes,
} from "./vocabulary.js";

/** One step. Its reply is the one behind the arrow, or a failure. */
export type Step =
  /** Runs these commands at once → `ended`. A missing program: `unsupported`. */
  | {
      step: "run";
      /** The commands. */
      commands: GitCommand[];
    }
  /** Looks at paths → `found`. */
  | {
      step: "look";
      /** The paths. */
      paths: string[];
      /** Whether a final link is followed. */
      follow: boolean;
      /** Whether `Found.opens` matters. */
      open: boolean;
    }
  /** Reads a plain file → `content`. */
  | {
      step: "read";
      /** The file. */
      path: string;
      /** Most bytes that are read; `null`: all. */
      first_bytes: number | null;
      /** Whether a program that is not trusted may write there: a final link is refused. */
      untrusted: boolean;
    }
  /** Writes a file in place → `done`. */
  | {
      step: "write";
      /** The file. */
      path: string;
      /** Its content. */
      bytes: Bytes;
    }
  /** Replaces a file durably under a lock as git does → `done`. The lock is there: `exists`. */
  | {
      step: "replace";
      /** The file, which keeps its permissions. */
      path: string;
      /** The lock, which becomes the file. */
      lock: string;
      /** The new content. */
      bytes: Bytes;
    }
  /** Copies a file with its time of modification, and makes missing folders → `done`. */
  | {
      step: "copy";
      /** The file. */
      from: string;
      /** The copy. */
      to: string;
    }
  /** Renames a file or folder → `done`. */
  | {
      step: "rename";
      /** Its name now. */
      from: string;
      /** Its new name. */
      to: string;
    }
  /** Removes a file → `done`. */
  | {
      step: "remove_file";
      /** The file. */
      path: string;
    }
  /** Removes an empty folder → `done`. */
  | {
      step: "remove_folder";
      /** The folder. */
      path: string;
    }
  /**
   * Removes a folder with everything in it, also where it is read-only → `done`. A missing one is
   * done.
   */
  | {
      step: "remove_tree";
      /** The folder. */
      path: string;
    }
  /** Makes a folder in an existing one → `done`. */
  | {
      step: "make_folder";
      /** The folder. */
      path: string;
    }
  /** Lets only the owner read a file; a missing one is done → `done`. */
  | {
      step: "make_private";
      /** The file. */
      path: string;
    }
  /** Resolves every link of a path → `path`. */
  | {
      step: "canonical";
      /** The path. */
      path: string;
    }
  /** Looks for a link at these paths or below them → `path`. */
  | {
      step: "find_link";
      /** Files and folders; some may be missing. */
      paths: string[];
    }
  /** Looks for a git that works in a folder → `works`. */
  | {
      step: "git_works_in";
      /** The folder. */
      folder: string;
    }
  /** Waits → `done`. */
  | {
      step: "pause";
      /** How long. */
      duration_ms: number;
    };

/** A git command. It leads a session of its own, so that it cannot read from a terminal. */
export interface GitCommand {
  /** Its folder. */
  cwd: string;
  /** All arguments. */
  args: string[];
  /** Its standard input. */
  stdin: Bytes;
  /** Variables to set. */
  env: [string, string][];
  /** Inherited variables to remove. */
  env_remove: string[];
  /** Longest time; then its whole process group is ended. */
  timeout_ms: number;
  /** Most bytes of standard output. */
  limit_bytes: number;
  /** Whether an interrupt ends it. It does not end a rollback. */
  interruptible: boolean;
}

/** The reply to a step. */
export type StepReply =
  /** Success, without a value. */
  | { is: "done" }
  /** How commands ended. */
  | {
      is: "ended";
      /** In the order of the commands. */
      ends: CommandEnd[];
    }
  /** What is at paths. */
  | {
      is: "found";
      /** In the order of the paths; `null`: nothing. */
      found: (Found | null)[];
    }
  /** The content of a file. */
  | {
      is: "content";
      /** As many bytes as were asked for. */
      bytes: Bytes;
    }
  /** A path. */
  | {
      is: "path";
      /** `null`: there is none. */
      path: string | null;
    }
  /** Whether a git works. */
  | {
      is: "works";
      /** `null`: the system does not tell. */
      works: boolean | null;
    };

/** How a command ended. */
export type CommandEnd =
  /** By itself. */
  | {
      how: "exited";
      /** Its exit code; -1: a signal ended it. */
      exit: number;
      /** Its standard output. */
      stdout: Bytes;
      /** Its standard error. */
      stderr: Bytes;
    }
  /** Its output was too large. */
  | { how: "too_large" }
  /** It took too long. */
  | {
      how: "timed_out";
      /** The program that it waited for, if that is known. */
      waits_for: string | null;
    }
  /** It was interrupted. */
  | {
      how: "interrupted";
      /** The program that it waited for, if that is known. */
      waits_for: string | null;
    };

/** What is at a path. */
export interface Found {
  /** Its kind. */
  kind: FoundKind;
  /** Its size. */
  size_bytes: number;
  /** The number of its file system; 0: unknown. */
  device: number;
  /** Whether a plain file can be opened for reading, if that was asked. */
  opens: boolean;
}

/** The kind of what is at a path. */
export type FoundKind =
  /** A plain file. */
  | "file"
  /** A folder. */
  | "folder"
  /** A symbolic link. */
  | "link"
  /** A pipe, a socket or a device. */
  | "other";
