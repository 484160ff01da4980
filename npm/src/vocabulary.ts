/**
 * The documents that cross the border to the core. Bytes are not part of them: where a document
 * has `Bytes`, it has the position of an attachment in the list beside it.
 *
 * Generated from `core/src/effect` by `cargo xtask generate`; do not edit.
 */

/** What a program is started with. */
export interface Start {
  /** Command line; the first word is the name the program was called by. */
  argv: string[];
  /**
   * The words that start this program again from anywhere: its absolute path, or that of an
   * interpreter and of a script. Empty: it cannot be started again, as where a host embeds the
   * core.
   */
  program?: string[];
  /** Environment variables; names and values that are not UTF-8 are left out. */
  env: Record<string, string>;
  /** Absolute current folder. Relative paths in requests are below it. */
  cwd: string;
  /** Time at start. Milliseconds since 1970. */
  now_ms: number;
  /** What the standard streams are connected to. */
  terminal: Terminal;
  /** Who asks; written into locks. */
  process: ProcessIdentity;
  /**
   * Unpredictable bytes; the only source of randomness that a program has. Thirty-two hexadecimal
   * digits.
   */
  random: string;
}

/** What the standard streams are connected to. */
export interface Terminal {
  /** Whether somebody can answer questions. */
  stdin: boolean;
  /** Whether a person reads the results. */
  stdout: boolean;
  /** Whether a person reads the notes. */
  stderr: boolean;
  /** Width; 80 where unknown. */
  columns: number;
}

/** A process, so that another one can tell whether it still exists. */
export interface ProcessIdentity {
  /** Process id on `host`. */
  pid: number;
  /** Name of the machine. */
  host: string;
  /**
   * When the process started, in the operating system's own unit and text; with the pid it names
   * one process even after pids wrap around. Empty where unknown.
   */
  started: string;
}

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
  /** Asks or changes a git repository. */
  | ({ do: "git" } & GitRequest)
  /**
   * Sends a request to a server → `http`, whatever the status of the answer. Unreachable, or no
   * answer in time: `closed`.
   */
  | ({ do: "http" } & HttpSpec)
  /**
   * Asks the person at the terminal → `answer`. What was typed before the question is no answer to
   * it and is thrown away. No terminal, or its end: `closed`.
   */
  | {
      do: "ask";
      /** The question, already fit for a terminal. */
      question: string;
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
    }
  /** Waits → `done`. */
  | {
      do: "sleep";
      /** How long. */
      duration_ms: number;
    }
  /** Says something to the person or program that called → `done`. */
  | ({ do: "say" } & Say);

/**
 * Content of a file, a stream or a body. A document contains its position among the attachments of
 * the `Message`, which carries the bytes themselves.
 */
export type Bytes = number;

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

/** A program to run. */
export interface ProcessSpec {
  /** What to run. */
  command: Command;
  /** Folder to run in. */
  cwd: string;
  /** Inherited environment variables to remove. */
  env_remove: string[];
  /** Environment variables to set, after the removals. */
  env_set: Record<string, string>;
  /** Standard input; `null` is an empty, closed stream. */
  stdin: Bytes | null;
  /** Longest running time; then its whole process group is terminated, and finally killed. */
  timeout_ms: number | null;
  /** Bytes kept from the start, and again from the end, of each stream. */
  capture_bytes: number;
  /**
   * File that receives both streams as they come; created, with its folders. It has no value of a
   * secret environment variable in it, see `Redaction`, and of one program only the first
   * `limits.LOG_HEAD_BYTES` and the last `limits.LOG_TAIL_BYTES`.
   */
  stream_to: string | null;
  /** Whether that file is for its owner alone; as in `write`. */
  private: boolean;
  /** Name for a live status line; `null` shows none. */
  label: string | null;
  /** Connect the program to the terminal instead of capturing (interactive agents). */
  interactive: boolean;
  /**
   * Longest time without a reply; a program that is still running then is left running. Until the
   * next `wait` nobody reads its output or enforces its timeout, so only short requests belong in
   * between. It is ended when the caller ends. `null`: the reply comes when the program has ended.
   */
  wake_after_ms: number | null;
  /**
   * Also wakes the caller when standard input has something to read or has ended. A host that
   * cannot tell ignores this.
   */
  wake_on_input: boolean;
  /**
   * Also wakes the caller when the program has written lines to standard output, with `lines`: soon
   * after the first of them, with what has come until then. What was written last may only be in
   * the capture. A host that cannot tell ignores this.
   */
  wake_on_lines: boolean;
  /**
   * Answers with `started` as soon as the program runs, and leaves it running, so that the caller
   * can write down which group acts.
   */
  announce: boolean;
  /**
   * What the program may touch; `null`: whatever the host itself may. A host that cannot enforce
   * all of it starts nothing: `unsupported`.
   */
  confine?: Confinement | null;
}

/** What to run. */
export type Command =
  /** A program, found on `PATH` unless it contains `/`, and its arguments. */
  | { argv: string[] }
  /** A line for a shell. */
  | {
      /** Which shell. */
      shell: Shell;
      /** The line, exactly as written. */
      line: string;
    };

/** A shell that reads a command line. */
export type Shell =
  /** `bash -c`. */
  | "bash"
  /** `sh -c`. */
  | "sh"
  /** `pwsh -NoProfile -Command`. */
  | "pwsh"
  /** `cmd /C`. */
  | "cmd";

/**
 * What a program, and everything that it starts, may touch. Everything can be read unless this says
 * otherwise, and nothing can be changed. The longest path at or above a file decides about it; the
 * same path in two lists is what the later of `may_write`, `may_read`, `hidden` says. Paths are
 * absolute, with `/` between their parts; what is not there is no fault. Whatever is listed: the
 * program gets no descriptors but its three streams, reaches no process, no shared memory and no
 * socket of the machine that is not one of the network, gains no privileges, and cannot type into
 * its terminal.
 */
export interface Confinement {
  /** What may be changed: folders with everything in them, and files. */
  may_write: string[];
  /**
   * What may be read and not be changed, in a folder that may be written or is hidden. What is not
   * there must not come to be there.
   */
  may_read: string[];
  /** What can be neither read nor changed. */
  hidden: string[];
  /** Which network it has. */
  network: Network;
  /** The only mechanism that may be used; `null`: the strongest that there is. */
  only?: Mechanism | null;
}

/** The network of a confined program. */
export type Network =
  /** That of the machine. */
  | "all"
  /** A loopback device that nobody else has. */
  | "loopback"
  /** None. */
  | "none";

/** What enforces a confinement. */
export type Mechanism =
  /** Namespaces of Linux, set up by the program `bwrap`. */
  | "bubblewrap"
  /** Landlock and a filter of system calls of Linux. */
  | "landlock"
  /** The sandbox of macOS. */
  | "seatbelt";

/** A process group, named so that whoever comes later can tell whether it is still there. */
export interface ProcessGroup {
  /**
   * Its number: the process id of the program that leads it. An interactive program leads none;
   * this is its own number then.
   */
  pid: number;
  /** When that program started, as `ProcessIdentity.started`. */
  started: string;
  /**
   * Names the time since the machine was started: with another name, nothing of the group can be
   * there any more. Empty where unknown.
   */
  boot: string;
}

/** A closed set of queries and changes; hosts perform them with libgit2 or the git program. */
export type GitRequest =
  /** Everything preflight needs to know → `survey`. */
  | {
      git: "survey";
      /** A folder, usually inside a repository. */
      cwd: string;
      /** The branch whose existence matters. */
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
    };

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
  /** What a server answered. */
  | ({ is: "http" } & HttpAnswer)
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
  | { is: "no_input" };

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

/** How a program ended and what it said. */
export interface ProcessEnd {
  /** How it ended. */
  status: ProcessStatus;
  /** Its standard output. */
  stdout: Capture;
  /** Its standard error. */
  stderr: Capture;
  /** How long it ran. */
  duration_ms: number;
  /** What has enforced `ProcessSpec.confine`; `null`: it had none. */
  confined?: Mechanism | null;
}

/** How a program ended. */
export type ProcessStatus =
  /** By itself. */
  | { exited: number }
  /** By a signal that was not ours. */
  | { signalled: number }
  /** By us, because its time was up. */
  | "timed_out"
  /** By us, because the person interrupted. */
  | "interrupted";

/** One stream's output: all of it, or its beginning and its end. */
export interface Capture {
  /** The first bytes. */
  head: Bytes;
  /** The last bytes, without those already in `head`. */
  tail: Bytes;
  /** Everything that was written. */
  total_bytes: number;
}

/** Who has a lock. */
export interface LockHolder {
  /** The process that the lock names. */
  process: ProcessIdentity;
  /** It is on this machine and still there. Of another machine nothing is known. */
  live: boolean;
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

/** What a server answered, whatever the status. */
export interface HttpAnswer {
  /** Status; redirects are not followed. */
  status: number;
  /** The body. */
  body: Bytes;
}

/**
 * An effect that did not happen, or not completely. Programs branch on `kind`; people read
 * `message`.
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
  /** Anything else. */
  | "other";
