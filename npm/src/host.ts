/**
 * The effects that a program asks for, grouped by capability. A host implements them; for what
 * it cannot do, it throws a `Failure` of kind `unsupported`.
 *
 * Paths are absolute or relative to the folder that the program was started in, with `/`
 * between their parts. Every method throws a `Failure` when the effect did not happen, or when nobody
 * knows whether it did.
 */

import type {
  Command,
  Expect,
  FileKind,
  HttpMethod,
  LeftOut,
  LockHolder,
  ProcessGroup,
  ProcessIdentity,
  ProcessRole,
  ProcessStatus,
  Say,
  Shell,
  Version,
} from "./vocabulary.js";

export type { Expect, LeftOut, LockHolder, ProcessGroup, ProcessIdentity, ProcessRole, ProcessStatus, Shell, Version };

export interface Stat {
  /** Links are not followed. */
  kind: FileKind;
  /** 0 for folders. */
  sizeBytes: number;
  modifiedMs: number;
  executable: boolean;
  /** Whether it belongs to somebody other than this user and root; left out: no. */
  foreign?: boolean;
}

export interface Files {
  /** The content of a file; longer than `limitBytes`: `too_large`. */
  read(path: string, limitBytes: number): Promise<{ bytes: Uint8Array; version: Version }>;
  /** The last `limitBytes` of a file, whatever its size. */
  readTail(path: string, limitBytes: number): Promise<{ bytes: Uint8Array; sizeBytes: number }>;
  /**
   * Replaces a file as a whole and creates missing folders. A reader sees the old or the new
   * content, never a part. `durable`: it survives a power cut once the promise has resolved.
   * `isPrivate`: the file, and every folder that was missing, is for its owner alone; otherwise a
   * file that is replaced keeps its permissions.
   */
  write(
    path: string,
    bytes: Uint8Array,
    expect: Expect,
    durable: boolean,
    isPrivate?: boolean,
  ): Promise<Version>;
  /**
   * Adds to the end of a file; creates it when `expectLenBytes` is 0. Another size before: `conflict`.
   * `durable` and `isPrivate` as in `write`.
   */
  append(
    path: string,
    bytes: Uint8Array,
    expectLenBytes: number,
    durable: boolean,
    isPrivate?: boolean,
  ): Promise<void>;
  /** Overwrites `old` with the equally long `neu`; anything else there: `conflict`. */
  patch(path: string, offsetBytes: number, old: Uint8Array, neu: Uint8Array): Promise<void>;
  /** Removes a file, or a folder with everything in it. */
  remove(path: string): Promise<void>;
  /** Names in a folder, sorted by their UTF-8 bytes. */
  list(path: string): Promise<string[]>;
  /** What is at a path, not following a final link. */
  stat(path: string): Promise<Stat>;
  /** The path with every link resolved. */
  canonical(path: string): Promise<string>;
}

export interface Locks {
  /**
   * Becomes the only holder of a lock file; `busy` names the present one. `role`: what this
   * process is, for the lock file; left out: a command line.
   */
  lock(
    path: string,
    waitMs: number,
    nowMs: number,
    isPrivate?: boolean,
    role?: ProcessRole,
  ): Promise<void>;
  unlock(path: string): Promise<void>;
  /**
   * Who has a lock file now, without taking it; nothing where nobody has. A file that does not
   * say: `busy`. Hosts that cannot tell leave it out.
   */
  holder?(path: string): Promise<LockHolder | undefined>;
  /** Releases what is still held; called when the program has ended. */
  releaseAll(): Promise<void>;
}

/** A program to run. */
export interface ProcessSpec {
  /** A program and its arguments, or a line for a shell. */
  command: Command;
  cwd: string;
  /** Inherited environment variables to remove. */
  envRemove: string[];
  /** Environment variables to set, after the removals. */
  envSet: Record<string, string>;
  /** Standard input; left out: an empty, closed stream. */
  stdin?: Uint8Array;
  /** Longest running time; then its whole process group is terminated, and finally killed. */
  timeoutMs?: number;
  /** Bytes kept from the start, and again from the end, of each stream. */
  captureBytes: number;
  /** File that receives both streams as they come. */
  streamTo?: string;
  /**
   * What must not get into that file; of those that begin alike the longest is first. Nothing: there
   * is no secret.
   */
  secrets?: Secret[];
  /** Whether that file is for its owner alone, as in `Files.write`. */
  isPrivate?: boolean;
  /** Name for a live status line. */
  label?: string;
  /** Connect the program to the terminal instead of capturing. */
  interactive: boolean;
  /**
   * Longest time without an answer; a program that is still running then is left running, and
   * `wait` continues to follow it. Left out: answer when it has ended.
   */
  wakeAfterMs?: number;
  /**
   * Also answer when standard input has something to read or has ended. A host that cannot tell
   * ignores this.
   */
  wakeOnInput?: boolean;
  /**
   * Also answer when the program has written lines to standard output, soon after the first of them,
   * with `{ lines }`. What is written last may only be in the capture. A host that cannot tell ignores
   * this.
   */
  wakeOnLines?: boolean;
  /** Answer with the program's group as soon as it runs, and leave it running. */
  announce?: boolean;
}

/** One way in which programs write a secret, and what stands in its place. */
export interface Secret {
  form: string;
  placeholder: string;
}

/** One stream's output: all of it, or its beginning and its end. */
export interface Capture {
  head: Uint8Array;
  tail: Uint8Array;
  totalBytes: number;
}

export interface ProcessEnd {
  status: ProcessStatus;
  stdout: Capture;
  stderr: Capture;
  durationMs: number;
}

/** How far a program has come when its caller hears of it again. */
export type ProcessTurn = ProcessEnd | "running" | { started: ProcessGroup } | { lines: Uint8Array };

/** Other programs, one at a time. */
export interface Processes {
  /** Runs a program to its end; with `wakeAfterMs` it may be left `"running"` for a while. */
  run(spec: ProcessSpec): Promise<ProcessTurn>;
  /**
   * Continues to follow the program that was left running; `not_found` when there is none. Hosts
   * that run every program to its end leave it out. `activity` is what the program does at the
   * moment, for a status line.
   */
  wait?(wakeAfterMs?: number, wakeOnInput?: boolean, activity?: string): Promise<ProcessTurn>;
  /** Ends what was left running, if anything; also called when the onloop program has ended. */
  endLeft?(): Promise<void>;
  /** The processes above this one, nearest first. Hosts that cannot tell leave it out. */
  ancestors?(): Promise<ProcessIdentity[]>;
  /**
   * Ends what is left of a process group of an earlier program, which was started on the machine
   * `host`, and says how many processes there were. Who has `mark`, as `NAME=value`, in its
   * environment is ended as well. Hosts that cannot leave it out.
   */
  endGroup?(group: ProcessGroup, host: string, mark?: string): Promise<number>;
  /**
   * Starts a program that outlives this one, such as what opens a page in a browser, and answers when
   * it has ended with 0, or runs after `waitMs` still. It has no streams, and nobody follows or ends
   * it. Not there: `not_found`; it ended otherwise: `other`. Hosts that cannot leave it out.
   */
  launch?(argv: string[], waitMs: number): Promise<void>;
}

/** Facts about a checkout. Paths are absolute, with links resolved. */
export interface Repository {
  root: string;
  /** Top folder of the main checkout; of a bare repository, its own folder. */
  mainRoot: string;
  linked: boolean;
  /** Nothing: detached. */
  branch?: string;
  /** Nothing: no commit yet. */
  head?: string;
  /** Every uncommitted path, relative to `root`, sorted. */
  dirty: string[];
  /** Commit of the branch asked about. */
  targetCommit?: string;
  /** Where the branch asked about is checked out. */
  targetCheckedOutAt?: string;
}

export interface Worktree {
  path: string;
  branch?: string;
}

/** A checkpoint to make. */
export interface NewCheckpoint {
  /**
   * The file in which the host keeps what it knows of the checkout from one checkpoint to the next;
   * nothing there: it begins with what the checkout's own index says.
   */
  index: string;
  /** The name of the commit below `refs/onloop/`; what has it already loses it. */
  name: string;
  /** The commit before this one; left out: the one at HEAD, if there is one. */
  parent?: string;
  message: string;
  /** The time of the commit. */
  atMs: number;
  /** Largest file that is kept; larger ones that git would not convert are left out and named. */
  limitBytes: number;
  /** What `KeptWork.programs` has to be; otherwise: `denied`. Left out: anything. */
  programs?: string;
}

/** A commit to make of a checkpoint. */
export interface NewCommit {
  /** A file that the host may use for itself. */
  index: string;
  branch: string;
  /** The commit that the branch must be at. */
  head: string;
  /** The checkpoint's commit. */
  kept: string;
  /** Files of the checkpoint that stay out unless the branch has them already. */
  without: string[];
  message: string;
}

/** The files of a checkout at one moment. */
export interface KeptWork {
  commit: string;
  /** The same files have the same tree. */
  tree: string;
  /** Digest of everything that the repository's own configuration names as a program to run. */
  programs: string;
  /** Files that should have been kept and were not, sorted by path. */
  leftOut: LeftOut[];
}

/** A commit below `refs/onloop/`. */
export interface NamedCheckpoint {
  name: string;
  commit: string;
  /** When it was made. */
  atMs: number;
}

/**
 * Git repositories. Names of branches, remotes and checkpoints are ones that git allows: core judges
 * them before a host is asked. A survey about no branch has an empty name.
 */
export interface Git {
  /** What is known about the checkout around `cwd`; nothing outside of one. */
  survey(cwd: string, branch: string): Promise<Repository | undefined>;
  /** Every worktree, the main one first. */
  worktrees(cwd: string): Promise<Worktree[]>;
  /** The commit at HEAD. */
  head(cwd: string): Promise<string | undefined>;
  /** Creates a linked worktree, with `createAt` on a new branch at that commit; all or nothing. */
  createWorktree(cwd: string, path: string, branch: string, createAt?: string): Promise<void>;
  removeWorktree(cwd: string, path: string): Promise<void>;
  switch(cwd: string, branch: string, create: boolean): Promise<void>;
  deleteBranch(cwd: string, branch: string): Promise<void>;
  /**
   * The best common ancestor of a commit and a local branch; nothing where they have none, or
   * where one of the two is not there.
   */
  mergeBase(cwd: string, commit: string, branch: string): Promise<string | undefined>;
  /** The commit that a branch is at in a remote repository, which is asked. */
  remoteBranch(cwd: string, remote: string, branch: string): Promise<string | undefined>;
  /**
   * Merges `branch`, which must be at `commit`, into `into` with a merge commit, and leaves
   * everything as it was when that cannot be done; `conflict` names the files.
   */
  merge(cwd: string, branch: string, commit: string, into: string): Promise<void>;
  /**
   * Pushes a branch to the one of the same name and makes that its upstream; never by force.
   * The only git request that lets hooks run.
   */
  push(cwd: string, remote: string, branch: string): Promise<void>;
  /** Stashes tracked and untracked changes of `paths`, relative to the checkout's root. */
  stash(cwd: string, message: string, paths: string[]): Promise<void>;
  /**
   * Keeps the files of the checkout, tracked and untracked ones that are not ignored, without what is
   * in its `.hotl`, as a commit that no branch shows. Branches, HEAD, index and files stay as they
   * are; no hook runs, nothing is signed or fetched. Hosts that cannot leave it and what follows out.
   */
  checkpoint?(cwd: string, made: NewCheckpoint): Promise<KeptWork>;
  /**
   * Makes the files of the checkout those of `commit`, or only `paths` of them where there are any.
   * Changes only files that the last checkpoint with this `index` kept; something else in the way:
   * `conflict`, and nothing is changed.
   */
  restore?(
    cwd: string,
    index: string,
    commit: string,
    paths: string[],
    programs?: string,
  ): Promise<void>;
  /**
   * What changed between two commits, only in `paths` where there are any, as a patch for people;
   * longer than the limit: `too_large`.
   */
  diff?(
    cwd: string,
    ends: [from: string, to: string],
    isStat: boolean,
    paths: string[],
    limitBytes: number,
  ): Promise<Uint8Array>;
  /**
   * Makes the files of a checkpoint the next commit of a branch, as `git commit` would, without its
   * hooks, and lets the index of the checkout agree with it. The branch is elsewhere: `conflict`.
   */
  commitKept?(cwd: string, made: NewCommit): Promise<string>;
  /** The paths that differ between two commits, sorted by their bytes. */
  changedPaths?(cwd: string, from: string, to: string): Promise<string[]>;
  /** Every commit below `refs/onloop/`, by name; none outside a repository. */
  checkpoints?(cwd: string): Promise<NamedCheckpoint[]>;
  /** Takes a checkpoint's name away; it names another commit: `conflict`. */
  forgetCheckpoint?(cwd: string, name: string, commit: string): Promise<void>;
  /**
   * Writes beside a commit, in `refs/notes/onloop`, what there is to say about it, instead of what was
   * said there before. No hook runs and nothing is signed.
   */
  note?(cwd: string, commit: string, text: string, atMs: number): Promise<void>;
  /** Makes a commit that holds these files and nothing else, and that nothing names yet. */
  keepFiles?(cwd: string, made: NewFiles): Promise<string>;
  /** A file of such a commit; longer than the limit: `too_large`. */
  readKept?(cwd: string, commit: string, name: string, limitBytes: number): Promise<Uint8Array>;
  /**
   * Changes names below `refs/onloop/` of a remote repository, all or none; one of them does not name
   * what was expected: `conflict`.
   */
  pushRefs?(cwd: string, remote: string, updates: RefUpdate[]): Promise<void>;
  /**
   * Brings what is below `refs/onloop/<prefix>/` of a remote repository here, under names below
   * `refs/onloop/<prefix>/fetched/<remote>/`; named as it is there below the prefix.
   */
  fetchRefs?(cwd: string, remote: string, prefix: string): Promise<NamedCheckpoint[]>;
}

/** A commit to make of files. */
export interface NewFiles {
  /** Each in no folder, and each name once. */
  files: { name: string; bytes: Uint8Array }[];
  /** The commit before this one. */
  parent?: string;
  message: string;
  atMs: number;
}

/** What a name in a remote repository is to become. */
export interface RefUpdate {
  /** Below `refs/onloop/`. */
  name: string;
  /** What it must name there now; left out: there must be no such name. */
  expected?: string;
  /** What it is to name; left out: the name is taken away. */
  commit?: string;
}

/** A request to a server. */
export interface HttpSpec {
  method: HttpMethod;
  url: string;
  headers: [name: string, value: string][];
  body?: Uint8Array;
  /** Longest time until the whole answer has arrived; then: `closed`. */
  timeoutMs: number;
  /** Largest body that is accepted; a larger one: `too_large`. */
  limitBytes: number;
}

export interface HttpAnswer {
  /** Redirects are not followed. */
  status: number;
  body: Uint8Array;
}

export interface Servers {
  /** Sends a request. Failures never name the URL: it may contain a token. */
  http(spec: HttpSpec): Promise<HttpAnswer>;
}

export interface Changes {
  /**
   * Waits up to `waitMs` until something in one of these folders changes: an entry comes, goes, gets
   * another name or other content; what is in folders below them does not count. What has changed since
   * the last call counts, and so does a folder that it did not name. The result: whether something may
   * have changed.
   */
  changes(folders: string[], waitMs: number): Promise<boolean>;
}

/** What a browser wants. */
export interface Call {
  /** Names it in the answer; never used twice. */
  call: number;
  method: string;
  /** Path and query, as they came. */
  target: string;
  /** Names, in small letters, and values, in the order in which they came; a name may come twice. */
  headers: [name: string, value: string][];
  body: Uint8Array;
}

/** An answer to a call. */
export interface CallAnswer {
  status: number;
  headers: [name: string, value: string][];
  /** The body, or its beginning. */
  body: Uint8Array;
  /** Whether it stays open for `push`. */
  open: boolean;
}

/** A server for browsers on this machine; one for each program. */
export interface Serve {
  /**
   * Accepts connections on 127.0.0.1, with 0 on a port that is free; `busy`: the port is taken. `secret` is
   * thirty-two unpredictable bytes.
   */
  listen(port: number): Promise<{ port: number; secret: Uint8Array }>;
  /**
   * The next call; nothing where none comes within `waitMs`, or before something in one of `folders` may have
   * changed, as with `Changes`. What is no HTTP never gets here.
   */
  next(waitMs: number | undefined, folders: string[]): Promise<Call | undefined>;
  /** Answers a call, once. */
  answer(call: number, answer: CallAnswer): Promise<void>;
  /** Sends more of an answer that is open, with no bytes its end; `closed`: nobody reads it any more. */
  push(call: number, bytes: Uint8Array): Promise<void>;
  /** Ends every connection; called when the program has ended. */
  close(): Promise<void>;
}

export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  sleep(durationMs: number): Promise<void>;
}

export interface Terminal {
  /** Results, written as they are; notes are complete lines with ANSI styles. */
  say(to: Say["to"], text: string): Promise<void>;
  /** A person's answer; `closed` when nobody can answer. */
  ask(question: string): Promise<string>;
  /**
   * The next complete lines of standard input, empty at its end. A line longer than the limit:
   * `too_large`, and the next read starts after it. Without a complete line within `waitMs` the
   * result is undefined. Hosts without standard input leave it out.
   */
  readInput?(limitBytes: number, waitMs?: number): Promise<Uint8Array | undefined>;
  /**
   * What has arrived on standard input, one byte at least and `limitBytes` at most; the rest comes
   * with the next read. Empty at its end, undefined when nothing has arrived within `waitMs`.
   * `onloop lsp` needs it.
   */
  readBytes?(limitBytes: number, waitMs?: number): Promise<Uint8Array | undefined>;
}

export interface Host {
  files: Files;
  locks: Locks;
  processes: Processes;
  git: Git;
  /** Hosts that do not notice changes leave it out. */
  changes?: Changes;
  /** Hosts without a network leave it out. */
  servers?: Servers;
  /** Hosts that cannot be a server leave it out. */
  serve?: Serve;
  clock: Clock;
  terminal: Terminal;
}
