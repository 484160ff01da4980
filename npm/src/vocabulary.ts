/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

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

/** What a program wants from its host next. */
export type Turn =
  /** Perform this, then resume with the reply. */
  | { request: Request }
  /** The program has ended; it must not be resumed again. */
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
  /** The end of a file, whatever its size → `tail`. */
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
      /** What must be there before. */
      expect: Expect;
      /** Whether it must survive a power cut once the reply arrives. */
      durable: Durability;
      /**
       * Whether the file, and every folder that was missing, is for its owner alone, whatever the
       * process's mask says. Otherwise a file that is replaced keeps its permissions.
       */
      private: boolean;
    }
  /**
   * Adds to the end of a file and creates it when `expect_len_bytes` is 0 → `done`. A torn end
   * after a power cut is possible and must be expected.
   */
  | {
      do: "append";
      /** The file. */
      path: string;
      /** What is added. */
      bytes: Bytes;
      /** Size of the file before; another size: `conflict`. */
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
      /** Where. */
      offset_bytes: number;
      /** What is there now; anything else: `conflict`. */
      old: Bytes;
      /** What comes in its place, as long as `old`. */
      new: Bytes;
    }
  /** Removes a file, or a folder with everything in it → `done`. Nothing there: `not_found`. */
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
  /** What is at a path, not following a final symbolic link → `stat`. */
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
   * Becomes the only holder of a lock file → `done`; `busy` names the holder. A lock whose process
   * is provably dead is taken over; where its process is gone and the proof is missing, the host
   * waits a second for that, whatever `wait_ms` says. Released by `unlock` and by the end of the
   * program.
   */
  | {
      do: "lock";
      /** The lock file. */
      path: string;
      /** How long to wait for the present holder. */
      wait_ms: number;
      /** As in `write`. */
      private: boolean;
      /**
       * What the process is; written into the lock. A lock that does not say is a command line's.
       */
      role?: ProcessRole | null;
      /** The run that the holder of this lock drives; for hosts that show what they drive. */
      run?: string | null;
    }
  /** Releases a lock that this program holds → `done`. */
  | {
      do: "unlock";
      /** The lock file. */
      path: string;
    }
  /**
   * Who has a lock file now, without becoming its holder → `holder`. A file that does not say:
   * `busy`.
   */
  | {
      do: "holder";
      /** The lock file. */
      path: string;
    }
  /**
   * The processes above this one, nearest first → `processes`. A host that cannot tell:
   * `unsupported`.
   */
  | { do: "ancestors" }
  /**
   * Runs a program to its end → `process`, or to the moment when the caller wants to be woken →
   * `running` or to hear who runs → `started`. While one is left running: `busy`.
   */
  | ({ do: "process" } & ProcessSpec)
  /**
   * Continues to follow the program that was left running → `process` or `running` or `lines`.
   * `not_found` when there is none.
   */
  | {
      do: "wait";
      /** As `ProcessSpec.wake_after_ms`, counted from now. */
      wake_after_ms: number | null;
      /** As `ProcessSpec.wake_on_input`. */
      wake_on_input: boolean;
      /**
       * What the program does at the moment, one line for the status line; `null`: nobody knows.
       */
      activity: string | null;
    }
  /**
   * Ends the program that was left running, if there is one, as an interrupt does, and forgets it →
   * `done`.
   */
  | { do: "end" }
  /**
   * Ends what is left of a process group that an earlier program started and that nobody waits for,
   * as when the time of a program is over → `ended`. Another machine, or a host that cannot tell
   * one process from another: `unsupported`; our own group: `invalid`; somebody is left: `denied`.
   */
  | {
      do: "end_group";
      /** The group. */
      group: ProcessGroup;
      /** The machine that it was started on, as `ProcessIdentity.host`. */
      host: string;
      /**
       * `NAME=value` of an environment variable with which the group was started, and nothing else:
       * who has it is ended as well, however far it has moved from the group, as far as the host
       * can see environments.
       */
      mark: string | null;
    }
  /**
   * Starts a program that outlives this one, such as what opens a page in a browser → `done` when
   * it has ended with 0, or runs after `wait_ms` still. It has no streams, and nobody follows or
   * ends it. Not there: `not_found`; it ended otherwise: `other`.
   */
  | {
      do: "launch";
      /** The program, found on `PATH` unless it contains `/`, and its arguments. */
      argv: string[];
      /** How long it has time to fail. */
      wait_ms: number;
    }
  /** Asks or changes a git repository. */
  | ({ do: "git" } & GitRequest)
  /**
   * Sends a request to a server → `http`, whatever the status of the answer. Unreachable, or no
   * answer in time: `closed`.
   */
  | ({ do: "http" } & HttpSpec)
  /** Serves browsers on this machine. A host that cannot: `unsupported`. */
  | ({ do: "serve" } & ServeRequest)
  /**
   * Asks the person at the terminal → `answer`. What was typed before the question is no answer to
   * it and is thrown away. No terminal, or its end: `closed`.
   */
  | {
      do: "ask";
      /** The question, already fit for a terminal. */
      question: string;
      /** The answers that the question names; empty: any text. */
      choices?: string[];
    }
  /**
   * The next complete lines of standard input → `input`: as many as there are, up to `limit_bytes`;
   * at the end of the input the last one may lack its line break. A line longer than the limit:
   * `too_large`, and the next read starts after it.
   */
  | {
      do: "read_input";
      /** Most bytes accepted. */
      limit_bytes: number;
      /**
       * Longest wait for a complete line; then: `no_input`, and what has arrived of the line is
       * kept. `null`: no limit.
       */
      wait_ms: number | null;
      /** What a read returns. */
      unit?: InputUnit;
    }
  /**
   * Waits until something in one of these folders changes → `changed`: an entry comes, goes, gets
   * another name or other content; what is in folders below them does not count. What has changed
   * since the last such request counts, so nothing is missed in between; a folder that the last one
   * did not name counts as changed. One that is not there is looked for with each request. Of more
   * than `limits.WATCHED_FOLDERS` the first count.
   */
  | {
      do: "changes";
      /** The folders. */
      folders: string[];
      /** Longest wait. */
      wait_ms: number;
    }
  /** Waits → `done`. */
  | {
      do: "sleep";
      /** How long. */
      duration_ms: number;
    }
  /** Says something to the person or program that called → `done`. */
  | ({ do: "say" } & Say);

/** Content of a file, a stream or a body. */
export type Bytes = Uint8Array;

/** What must be at a path before it is written. */
export type Expect =
  /** Anything. */
  | "any"
  /** Nothing; otherwise the failure is `exists`. */
  | "absent"
  /** The version that an earlier reply named; otherwise the failure is `conflict`. */
  | { version: Version };

/** Names one content of one file at one time. Opaque; made and compared by the host. */
export type Version = string;

/** Whether a write must survive a power cut. */
export type Durability = boolean;

/**
 * A request to a server. Its `Debug` output and messages show its origin and nothing else: a URL
 * may contain a token, headers and body may contain anything.
 */
export interface HttpSpec {
  /** What is done. */
  method: HttpMethod;
  /** Where: `http://` or `https://`. */
  url: string;
  /** Names and values, in addition to those that follow from the rest. */
  headers: [string, string][];
  /** What is sent. */
  body: Bytes | null;
  /** Longest time until the whole answer has arrived; then: `closed`. */
  timeout_ms: number;
  /** Largest body that is accepted; a larger one: `too_large`. */
  limit_bytes: number;
}

/** What is done. */
export type HttpMethod =
  /** Something is asked for. */
  | "GET"
  /** Something is handed over. */
  | "POST";

/** What a read of standard input returns. */
export type InputUnit =
  /** Whole lines. */
  | "lines"
  /**
   * Whatever has arrived, one byte at least, and never more than the limit: the rest comes with the
   * next read.
   */
  | "bytes";

/** Something to say. */
export type Say =
  /** A result, for standard output, written as it is. */
  | { to: "result"; text: string }
  /**
   * A note for people, for standard error; one or more complete lines, styled with ANSI where that
   * helps. The host removes the styles where they are not wanted.
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
  /** What is in a folder. */
  | {
      is: "names";
      /** Its entries, sorted. */
      names: string[];
    }
  /** What is at a path. */
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
   * A program is still running, and has written this to standard output since it was asked about
   * last; `wait` goes on with it.
   */
  | {
      is: "lines";
      /** Whole lines, and perhaps the beginning of the next. */
      bytes: Bytes;
    }
  /** A program runs; `wait` goes on with it. */
  | {
      is: "started";
      /** What it runs in. */
      group: ProcessGroup;
    }
  /** Who has a lock. */
  | {
      is: "holder";
      /** `null`: nobody. */
      holder: LockHolder | null;
    }
  /** Processes of this machine. */
  | {
      is: "processes";
      /** As the request orders them. */
      processes: ProcessIdentity[];
    }
  /** Nothing of a process group is left. */
  | {
      is: "ended";
      /** How many of its processes had survived until then. */
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
  /** The files of a checkout were kept. */
  | ({ is: "checkpoint" } & KeptWork)
  /** Commits below `refs/onloop/`. */
  | {
      is: "checkpoints";
      /** By name. */
      checkpoints: NamedCheckpoint[];
    }
  /** What changed between two commits. */
  | {
      is: "diff";
      /** A patch, or how many lines of which file. */
      bytes: Bytes;
    }
  /** A file that a commit holds. */
  | {
      is: "kept_file";
      /** The content. */
      bytes: Bytes;
    }
  /** What a server answered. */
  | ({ is: "http" } & HttpAnswer)
  /** A server listens. */
  | {
      is: "listening";
      /** Its port. */
      port: number;
      /** Thirty-two unpredictable bytes that no recording shows. */
      secret: Bytes;
    }
  /** A browser calls. */
  | ({ is: "call" } & WebCall)
  /** Nobody has called in time. */
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
  /** No complete line has arrived in time. */
  | { is: "no_input" }
  /** What came of waiting for changes. */
  | {
      is: "changed";
      /** Something may have changed; otherwise the time has passed. */
      changed: boolean;
    };

/** What is at a path. */
export interface Stat {
  /** File, folder or something else. */
  kind: FileKind;
  /** Size in bytes; 0 for folders. */
  size_bytes: number;
  /** Last change of the content. Milliseconds since 1970. */
  modified_ms: number;
  /** Whether it may be executed. */
  executable: boolean;
  /**
   * Whether it belongs to somebody other than this user and the system's own. No host knows that on
   * Windows.
   */
  foreign?: boolean;
}

/** What kind of thing is at a path. */
export type FileKind =
  /** A regular file. */
  | "file"
  /** A folder. */
  | "folder"
  /** A symbolic link. */
  | "link"
  /** A socket, a device, a pipe. */
  | "other";

/** Who has a lock. */
export interface LockHolder {
  /** The process that the lock names. */
  process: ProcessIdentity;
  /** It is on this machine and still there. Of another machine nothing is known. */
  live: boolean;
  /** What the process is, as it said. */
  role?: ProcessRole | null;
}

/** What a server answered, whatever the status. */
export interface HttpAnswer {
  /** Status; redirects are not followed. */
  status: number;
  /** The body. */
  body: Bytes;
}

/**
 * An effect that did not happen, or of which nobody knows whether it did. Programs branch on
 * `kind`; people read `message`.
 */
export interface Failure {
  /** What kind of failure. */
  kind: FailureKind;
  /** What the operating system or git said, and about what. */
  message: string;
}

/** Kinds of failure that programs distinguish. */
export type FailureKind =
  /** Nothing is there. */
  | "not_found"
  /** Something is there that should not be. */
  | "exists"
  /** Something else is there than expected. */
  | "conflict"
  /** Not permitted, or a read-only file system. */
  | "denied"
  /** No space left, or a quota is used up. */
  | "full"
  /** Larger than the limit. */
  | "too_large"
  /** A file where a folder was expected, or the reverse; not UTF-8; an impossible path. */
  | "invalid"
  /** Somebody else holds it. */
  | "busy"
  /** Nobody is there to answer. */
  | "closed"
  /** The person interrupted (Ctrl-C). */
  | "interrupted"
  /** This host cannot do it. */
  | "unsupported"
  /**
   * It may have happened, in part or as a whole, or be undone by a power cut. Look before it is
   * done again.
   */
  | "unknown"
  /** Anything else. */
  | "other";
