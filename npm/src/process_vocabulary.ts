/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  Bytes,
} from "./vocabulary.js";

/** An operating system that a command is written for. */
export type OperatingSystem =
  /** Linux. */
  | "linux"
  /** macOS. */
  | "macos"
  /** Windows. */
  | "windows";

/** A program to run. */
export interface ProcessSpec {
  /** The program. */
  command: Command;
  /** Its folder. */
  cwd: string;
  /** Inherited environment variables to remove. */
  env_remove: string[];
  /** Environment variables to set, after the removals. */
  env_set: Record<string, string>;
  /** Standard input; `null` is an empty, closed stream. */
  stdin: Bytes | null;
  /**
   * Longest running time. After it the host terminates the whole process group, and finally kills
   * it.
   */
  timeout_ms: number | null;
  /** Bytes kept from the start, and again from the end, of each stream. */
  capture_bytes: number;
  /**
   * File that receives both streams as they come; created, with its folders. The host redacts the
   * values of secret environment variables, see `Redaction`. It stores only the first
   * `limits.LOG_HEAD_BYTES` and the last `limits.LOG_TAIL_BYTES` of one program.
   */
  stream_to: string | null;
  /** Whether only the owner may read that file, as in `write`. */
  private: boolean;
  /** Name for a live status line; `null`: no status line. */
  label: string | null;
  /** Connect the program to the terminal instead of capturing (interactive agents). */
  interactive: boolean;
  /**
   * Longest time without a reply. A program that still runs then stays running. Until the next
   * `wait` the host neither reads its output nor enforces its timeout, so only short requests
   * belong in between. It ends with the caller. `null`: the reply comes when the program has ended.
   */
  wake_after_ms: number | null;
  /**
   * Also wakes the caller when standard input has data or has ended. A host without this ability
   * ignores it.
   */
  wake_on_input: boolean;
  /**
   * Also wakes the caller with `lines` when the program writes lines to standard output: soon after
   * the first line, with all output up to then. The last output may only be in the capture. A host
   * without this ability ignores it.
   */
  wake_on_lines: boolean;
  /**
   * Answers with `started` as soon as the program runs, and leaves it running, so that the caller
   * can record its group.
   */
  announce: boolean;
  /**
   * Files whose opening `ProcessEnd.opened` reports, at most `limits.OBSERVED_FILES`. Of a folder,
   * and of the nearest folder above a missing path, the listing and what lies directly in it count.
   * A host without this ability ignores it.
   */
  observe: string[];
  /**
   * How many of the first of `observe` are to look changed when the program starts: a host that
   * observes gives those that are plain files the present time. A build cache that goes by times
   * would hide their openings.
   */
  renew?: number | null;
  /**
   * The files and the network that the program may use; `null`: those of the host. A host that
   * cannot enforce all of it starts nothing: `unsupported`.
   */
  confine?: Confinement | null;
}

/** A program or a line for a shell. */
export type Command =
  /** A program, found on `PATH` unless it contains `/`, and its arguments. */
  | { argv: string[] }
  /** A line for a shell. */
  | {
      /** The shell. */
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
 * The files and the network that a program, and everything that it starts, may use. By default
 * every file is readable and none is writable. The longest listed path at or above a file decides
 * about it. If two lists have the same path, the later of `may_write`, `may_read`, `others_write`,
 * `scratch`, `hidden` decides. Paths are absolute, with `/` between their parts; a missing path is
 * valid. In every case the program gets no descriptors except its three streams. It reaches no
 * process, no shared memory and no local socket of the machine, gains no privileges, and cannot
 * type into its terminal.
 */
export interface Confinement {
  /** Writable paths: files, and folders with everything in them. */
  may_write: string[];
  /**
   * Read-only paths inside a writable or hidden folder. The program cannot create a missing one.
   */
  may_read: string[];
  /**
   * Those of `may_read` that count as missing, whatever is there: another confined program may have
   * made it.
   */
  absent?: string[];
  /**
   * As `may_read`, but other programs change it meanwhile: a mechanism that cannot protect it does
   * not restore it either.
   */
  others_write?: string[];
  /**
   * Folders that look empty except for listed paths in them. What the program writes there is lost
   * when it ends.
   */
  scratch?: string[];
  /** Paths that are neither readable nor writable. */
  hidden: string[];
  /**
   * Folders below which no new link is allowed, because programs outside write to their files by
   * name. A new link is removed when the program ends.
   */
  without_links?: string[];
  /**
   * Patterns for names in a folder, in lower case, of files that the program does not make there.
   * What it makes is removed when the program ends.
   */
  without_new?: string[];
  /**
   * Git folders whose configuration, and that of their submodules, is shown without credentials.
   * Only bubblewrap shows a file in the place of another.
   */
  without_credentials?: string[];
  /** A git folder of the program's own in the place of the repository's. Needs bubblewrap. */
  git?: PrivateGit | null;
  /** The network. */
  network: Network;
  /** The only permitted mechanism; `null`: the strongest available one. */
  only?: Mechanism | null;
}

/**
 * A git folder that a confined program has for itself. The program sees it at the path of the
 * repository's own git folder and may write everything in it. The repository's objects and hooks
 * are read-only. Submodules are shared: those of a linked worktree writable, others read-only.
 */
export interface PrivateGit {
  /**
   * The private git folder; `null`: one in memory that is lost when the program ends. If it is
   * missing, the host makes it from the repository: its configuration without credentials, its
   * branches, tags and remote branches, HEAD and index.
   */
  folder: string | null;
  /** The git folder of the repository, which all its worktrees share. */
  common: string;
  /** The git folder of the checkout: `common`, or `worktrees/<name>` below it. */
  own: string;
}

/** The network of a confined program. */
export type Network =
  /** The network of the machine. */
  | "all"
  /** A private loopback device. */
  | "loopback"
  /** None. */
  | "none"
  /**
   * A private loopback device, and a proxy of the host that connects to these names. Needs
   * bubblewrap.
   */
  | { names: NetworkName[] };

/**
 * A name of a network list: `host`, `*.host`, `localhost:PORT`, `@provider`, `@registries` or
 * `@localhost`.
 */
export type NetworkName = string;

/** The mechanism that enforces a confinement. */
export type Mechanism =
  /** Namespaces of Linux, set up by the program `bwrap`. */
  | "bubblewrap"
  /** Landlock and a filter of system calls of Linux. */
  | "landlock"
  /** The sandbox of macOS. */
  | "seatbelt";

/** A process group, named so that a later process can tell whether it still exists. */
export interface ProcessGroup {
  /**
   * Its number: the process id of the program that leads it. An interactive program leads no group;
   * its own process id stands here.
   */
  pid: number;
  /** The start time of that program, as `ProcessIdentity.started`. */
  started: string;
  /**
   * Identifies the boot of the machine: with another value, no process of the group can exist.
   * Empty if unknown.
   */
  boot: string;
}

/** The end of a program and its output. */
export interface ProcessEnd {
  /** How it ended. */
  status: ProcessStatus;
  /** Its standard output. */
  stdout: Capture;
  /** Its standard error. */
  stderr: Capture;
  /** Its running time. */
  duration_ms: number;
  /** The mechanism that enforced `ProcessSpec.confine`; `null`: not confined. */
  confined?: Mechanism | null;
  /**
   * The paths of `ProcessSpec.observe` that any process of the machine opened while the program
   * ran; `null`: not observed.
   */
  opened?: string[] | null;
  /** The names that the proxy of `Network.Names` refused, at most `limits.PROXY_REFUSED_NAMES`. */
  refused?: RefusedName[];
}

/** How a program ended. */
export type ProcessStatus =
  /** By itself, with this exit code. */
  | { exited: number }
  /** By a signal that onloop did not send. */
  | { signalled: number }
  /** By onloop, after its timeout. */
  | "timed_out"
  /** By onloop, because the person interrupted. */
  | "interrupted";

/** One stream's output: all of it, or its beginning and its end. */
export interface Capture {
  /** The first bytes. */
  head: Bytes;
  /** The last bytes, without those already in `head`. */
  tail: Bytes;
  /** The number of bytes written. */
  total_bytes: number;
}

/** A name that a confined program asked for and did not get. */
export interface RefusedName {
  /** The host, or `localhost:PORT`. */
  name: string;
  /** Why. */
  reason: RefusedReason;
  /** How often. */
  count: number;
}

/** Why the proxy of a confined program refuses a name. */
export type RefusedReason =
  /** The list does not have it. */
  | "not_listed"
  /** Its address belongs to this machine or to its link. */
  | "local_address"
  /** The port belongs to onloop or to a container engine. */
  | "reserved_port";
