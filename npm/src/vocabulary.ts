/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  Failure,
} from "./failure_vocabulary.js";
export type * from "./failure_vocabulary.js";
import type {
  Durability,
  Expect,
  FileSize,
  Stat,
  Version,
} from "./file_vocabulary.js";
export type * from "./file_vocabulary.js";
import type {
  GitRequest,
  GitSurvey,
  KeptWork,
  NamedCheckpoint,
  WorktreeEntry,
} from "./git_vocabulary.js";
export type * from "./git_vocabulary.js";
import type {
  ProcessEnd,
  ProcessGroup,
  ProcessSpec,
} from "./process_vocabulary.js";
export type * from "./process_vocabulary.js";
import type {
  ServeRequest,
  WebCall,
} from "./serve_vocabulary.js";
export type * from "./serve_vocabulary.js";
import type {
  ProcessIdentity,
  ProcessRole,
} from "./start_vocabulary.js";
export type * from "./start_vocabulary.js";

/** A program's next request, or its exit. */
export type Turn =
  /** Perform this request, then resume with its reply. */
  | { request: Request }
  /** The program has ended; do not resume it again. */
  | { exit: Exit };

/**
 * An effect that a program asks for. Paths are UTF-8, absolute or relative to `Start.cwd`, with `/`
 * between their parts.
 */
export type Request =
  /** The content of a file → `file`. Longer than `limit_bytes`: `too_large`. */
  | {
      do: "read";
      /** The file. */
      path: string;
      /** Most bytes accepted. */
      limit_bytes: number;
    }
  /** The end of a file of any size → `tail`. */
  | {
      do: "read_tail";
      /** The file. */
      path: string;
      /** Most bytes read. */
      limit_bytes: number;
    }
  /**
   * Replaces a file as a whole and creates missing folders → `written`. A reader sees the old or
   * the new content, never a part.
   */
  | {
      do: "write";
      /** The file. */
      path: string;
      /** Its new content. */
      bytes: Bytes;
      /** The expected state before the write. */
      expect: Expect;
      /** Whether the content must survive a power cut once the reply arrives. */
      durable: Durability;
      /**
       * Whether only the owner may read the file, and every folder that was missing, regardless of
       * the process's mask. Otherwise a replaced file keeps its permissions.
       */
      private: boolean;
    }
  /**
   * Appends to a file, and creates it when `expect_len_bytes` is 0 → `done`. A power cut may leave
   * a torn end.
   */
  | {
      do: "append";
      /** The file. */
      path: string;
      /** The bytes to append. */
      bytes: Bytes;
      /** Expected size of the file; another size: `conflict`. */
      expect_len_bytes: number;
      /** As in `write`. */
      durable: Durability;
      /** As in `write`. */
      private: boolean;
    }
  /** Overwrites bytes in place without changing the size → `done`. */
  | {
      do: "patch";
      /** The file. */
      path: string;
      /** The offset. */
      offset_bytes: number;
      /** The expected bytes; others: `conflict`. */
      old: Bytes;
      /** The new bytes, as many as `old`. */
      new: Bytes;
    }
  /**
   * Removes a file, or a folder with everything in it → `done`. If it does not exist: `not_found`.
   */
  | {
      do: "remove";
      /** The file or folder. */
      path: string;
    }
  /** Names in a folder, sorted → `names`. */
  | {
      do: "list";
      /** The folder. */
      path: string;
    }
  /** Kind, size and time of a path, without following a final symbolic link → `stat`. */
  | {
      do: "stat";
      /** The path. */
      path: string;
    }
  /** The path with every symbolic link resolved → `path`. */
  | {
      do: "canonical";
      /** The path; it must exist. */
      path: string;
    }
  /**
   * Takes a lock file as its only holder → `done`; `busy` names the holder. The host takes over the
   * lock of a process that is provably dead. If the process is gone but the proof is missing, the
   * host waits a second for it, regardless of `wait_ms`. `unlock` and the end of the program
   * release the lock.
   */
  | {
      do: "lock";
      /** The lock file. */
      path: string;
      /** How long to wait for the current holder. */
      wait_ms: number;
      /** As in `write`. */
      private: boolean;
      /**
       * The role of the process, written into the lock. A lock without a role belongs to a command
       * line.
       */
      role?: ProcessRole | null;
      /** The run that the holder of this lock drives; some hosts show it. */
      run?: string | null;
    }
  /** Releases a lock that this program holds → `done`. */
  | {
      do: "unlock";
      /** The lock file. */
      path: string;
    }
  /**
   * The holder of a lock file, without taking the lock → `holder`. A file that does not name one:
   * `busy`.
   */
  | {
      do: "holder";
      /** The lock file. */
      path: string;
    }
  /**
   * The ancestors of this process, nearest first → `processes`. A host without this ability:
   * `unsupported`.
   */
  | { do: "ancestors" }
  /**
   * Runs a program to its end → `process`. The caller may ask to be woken before → `running`, or to
   * learn the process group first → `started`. While another program is left running: `busy`.
   */
  | ({ do: "process" } & ProcessSpec)
  /**
   * Continues with the program that was left running → `process`, `running` or `lines`. `not_found`
   * without one.
   */
  | {
      do: "wait";
      /** As `ProcessSpec.wake_after_ms`, counted from now. */
      wake_after_ms: number | null;
      /** As `ProcessSpec.wake_on_input`. */
      wake_on_input: boolean;
      /** The current activity of the program, one line for the status line; `null` if unknown. */
      activity: string | null;
    }
  /**
   * Ends the program that was left running, if there is one, as an interrupt does, and forgets it →
   * `done`.
   */
  | { do: "end" }
  /**
   * Ends the rest of a process group of an earlier program, which has no waiting parent, as after a
   * timeout → `ended`. A group on another machine, or a host that cannot identify processes:
   * `unsupported`. The program's own group: `invalid`. A process remains: `denied`.
   */
  | {
      do: "end_group";
      /** The group. */
      group: ProcessGroup;
      /** The machine of the group, as `ProcessIdentity.host`. */
      host: string;
      /**
       * `NAME=value` of an environment variable that only this group was started with. The host
       * also ends processes outside the group that have it, as far as it can read environments.
       */
      mark: string | null;
    }
  /**
   * Starts a program that outlives this one and its terminal, such as a browser or the driver of a
   * run → `done` if it ends with 0, or still runs after `wait_ms`. It has a session of its own, no
   * input and no inherited files, and the host neither follows nor ends it. Missing program:
   * `not_found`; other ends: `other`.
   */
  | ({ do: "launch" } & LaunchSpec)
  /**
   * Interrupts another onloop on this machine, as Ctrl-C does in its terminal → `done`. A process
   * that has ended, or another one with its number: `not_found`. Another machine: `unsupported`. On
   * Windows the process ends at once.
   */
  | {
      do: "interrupt";
      /** The process. */
      process: ProcessIdentity;
      /** Whether it ends at once and kills its programs, as after a second Ctrl-C. */
      now: boolean;
    }
  /** Queries or changes a git repository. */
  | ({ do: "git" } & GitRequest)
  /**
   * Sends a request to a server → `http` with any status. Unreachable, or no answer in time:
   * `closed`.
   */
  | ({ do: "http" } & HttpSpec)
  /** Serves browsers on this machine. A host without this ability: `unsupported`. */
  | ({ do: "serve" } & ServeRequest)
  /**
   * Asks the person at the terminal → `answer`. Input typed before the question is discarded.
   * Without a terminal, or at its end: `closed`.
   */
  | {
      do: "ask";
      /** The question, safe for a terminal. */
      question: string;
      /** The answers that the question names; empty: any text. */
      choices?: string[];
      /**
       * Closes the question within a second after this file has another size → `changed`. A host
       * that cannot stop reading its terminal ignores it.
       */
      unless_changed?: FileSize | null;
    }
  /**
   * The next complete lines of standard input → `input`: all available lines up to `limit_bytes`.
   * At the end of the input the last line may lack its line break. A line longer than the limit:
   * `too_large`, and the next read starts after it.
   */
  | {
      do: "read_input";
      /** Most bytes accepted. */
      limit_bytes: number;
      /**
       * Longest wait for a complete line, then `no_input`; the host keeps a partial line. `null`:
       * no limit.
       */
      wait_ms: number | null;
      /** The unit of a read. */
      unit?: InputUnit;
    }
  /**
   * Waits until something in one of these folders changes → `changed`: an entry is created,
   * removed, renamed or has new content. Folders below them do not count. Changes since the last
   * such request count, so nothing is missed. A folder that the last request did not name counts as
   * changed. The host looks for a missing folder with each request. Only the first
   * `limits.WATCHED_FOLDERS` folders count.
   */
  | {
      do: "changes";
      /** The folders. */
      folders: string[];
      /** Longest wait. */
      wait_ms: number;
      /**
       * What works meanwhile. A host with a live terminal shows a line for each until it answers.
       */
      working?: WorkLine[];
    }
  /** Waits → `done`. */
  | {
      do: "sleep";
      /** How long. */
      duration_ms: number;
    }
  /** Writes text for the person or program that called → `done`. */
  | ({ do: "say" } & Say);

/** Content of a file, a stream or a body. */
export type Bytes = Uint8Array;

/** A program that outlives the one that starts it. */
export interface LaunchSpec {
  /** The program, found on `PATH` unless it contains `/`, and its arguments. */
  argv: string[];
  /** Its folder. */
  cwd: string;
  /** Inherited environment variables to remove. */
  env_remove: string[];
  /**
   * File to which both streams are appended; created, with its folders, for its owner only. `null`:
   * the host discards them.
   */
  log: string | null;
  /** Time in which a failure is reported. */
  wait_ms: number;
}

/**
 * A request to a server. Its `Debug` output and messages show only its origin: URL, headers and
 * body may contain secrets.
 */
export interface HttpSpec {
  /** The method. */
  method: HttpMethod;
  /** The address: `http://` or `https://`. */
  url: string;
  /** Names and values, in addition to those that the host sets. */
  headers: [string, string][];
  /** The body. */
  body: Bytes | null;
  /** Longest time until the whole answer has arrived, then `closed`. */
  timeout_ms: number;
  /** Largest accepted body; larger: `too_large`. */
  limit_bytes: number;
}

/** The method of a request. */
export type HttpMethod =
  /** Reads. */
  | "GET"
  /** Sends a body. */
  | "POST";

/** The unit of a read of standard input. */
export type InputUnit =
  /** Whole lines. */
  | "lines"
  /** All available bytes, at least one and at most the limit; the next read returns the rest. */
  | "bytes";

/** Another program that works for this one, as a line on a terminal. */
export interface WorkLine {
  /** What works, on one line. */
  label: string;
  /** For how long. */
  elapsed_ms: number;
  /** What it does, on one line. */
  activity: string;
}

/** Text to write. */
export type Say =
  /** A result, written to standard output unchanged. */
  | { to: "result"; text: string }
  /**
   * A note for people, on standard error: one or more complete lines, with ANSI styles. The host
   * removes the styles for a reader that does not want them.
   */
  | { to: "note"; text: string };

/** Exit codes; `docs/exit-codes.md` is generated from their documentation. */
export type Exit = number;

/** The answer to a request. */
export type Reply =
  | { at_ms: number; outcome: Outcome }
  | { at_ms: number; failure: Failure };

/** The outcome of a request. */
export type Outcome =
  /** Success, without a value. */
  | { is: "done" }
  /** Content and version of a file. */
  | {
      is: "file";
      /** The content. */
      bytes: Bytes;
      /** Its version. */
      version: Version;
    }
  /** The end of a file. */
  | {
      is: "tail";
      /** The last bytes. */
      bytes: Bytes;
      /** Size of the whole file. */
      size_bytes: number;
    }
  /** A file was written. */
  | {
      is: "written";
      /** Its version now. */
      version: Version;
    }
  /** The entries of a folder. */
  | {
      is: "names";
      /** Their names, sorted. */
      names: string[];
    }
  /** Facts about a path. */
  | ({ is: "stat" } & Stat)
  /** A path without symbolic links. */
  | {
      is: "path";
      /** Absolute. */
      path: string;
    }
  /** How a program ended. */
  | ({ is: "process" } & ProcessEnd)
  /** A program is still running; `wait` continues to follow it. */
  | { is: "running" }
  /**
   * A program is still running and has written this to standard output since the last reply; `wait`
   * continues with it.
   */
  | {
      is: "lines";
      /** Complete lines, and perhaps the beginning of the next. */
      bytes: Bytes;
    }
  /** A program runs; `wait` continues with it. */
  | {
      is: "started";
      /** Its process group. */
      group: ProcessGroup;
    }
  /** The holder of a lock. */
  | {
      is: "holder";
      /** `null`: the lock is free. */
      holder: LockHolder | null;
    }
  /** Processes of this machine. */
  | {
      is: "processes";
      /** In the order of the request. */
      processes: ProcessIdentity[];
    }
  /** The process group has ended. */
  | {
      is: "ended";
      /** The number of its processes that had survived until then. */
      survivors: number;
    }
  /** Facts about a repository. */
  | ({ is: "survey" } & GitSurvey)
  /** The worktrees of a repository. */
  | {
      is: "worktrees";
      /** The main one first; empty outside a repository. */
      worktrees: WorktreeEntry[];
    }
  /** A commit. */
  | {
      is: "commit";
      /** Its id, hexadecimal; `null` before the first commit and outside a repository. */
      commit: string | null;
    }
  /** The checkpoint of a checkout. */
  | ({ is: "checkpoint" } & KeptWork)
  /** Commits below `refs/onloop/`. */
  | {
      is: "checkpoints";
      /** By name. */
      checkpoints: NamedCheckpoint[];
    }
  /** The difference between two commits. */
  | {
      is: "diff";
      /** A patch, or the number of changed lines of each file. */
      bytes: Bytes;
    }
  /** A file of a commit. */
  | {
      is: "kept_file";
      /** The content. */
      bytes: Bytes;
    }
  /** A server's answer. */
  | ({ is: "http" } & HttpAnswer)
  /** A server listens. */
  | {
      is: "listening";
      /** Its port. */
      port: number;
      /** Thirty-two unpredictable bytes that no trace shows. */
      secret: Bytes;
    }
  /** A browser calls. */
  | ({ is: "call" } & WebCall)
  /** No call came in time. */
  | { is: "no_call" }
  /** A person's answer. */
  | {
      is: "answer";
      /** One line, without its line break. */
      answer: string;
    }
  /** Lines of standard input. */
  | {
      is: "input";
      /** Complete lines; empty at the end of the input. */
      bytes: Bytes;
    }
  /** No complete line came in time. */
  | { is: "no_input" }
  /** The end of a wait for changes. */
  | {
      is: "changed";
      /** Whether something may have changed; otherwise the time has passed. */
      changed: boolean;
    };

/** The holder of a lock. */
export interface LockHolder {
  /** The process that the lock names. */
  process: ProcessIdentity;
  /** Whether it is alive on this machine. `false` also for a process of another machine. */
  live: boolean;
  /** Its role, as the lock says. */
  role?: ProcessRole | null;
}

/** A server's answer with any status. */
export interface HttpAnswer {
  /** Status; hosts do not follow redirects. */
  status: number;
  /** The body. */
  body: Bytes;
}
