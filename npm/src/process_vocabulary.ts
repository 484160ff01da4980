/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  Bytes,
} from "./vocabulary.js";

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
 * same path in two lists is what the later of `may_write`, `may_read`, `others_write`, `scratch`,
 * `hidden` says. Paths are absolute, with `/` between their parts; a path that does not exist is
 * not an error. Whatever is listed: the program gets no descriptors but its three streams, reaches
 * no process, no shared memory and no socket of the machine that is not one of the network, gains
 * no privileges, and cannot type into its terminal.
 */
export interface Confinement {
  /** What may be changed: folders with everything in them, and files. */
  may_write: string[];
  /**
   * What may be read and not be changed, in a folder that may be written or is hidden. What is not
   * there must not come to be there.
   */
  may_read: string[];
  /**
   * As `may_read`, but others change it meanwhile: a mechanism that cannot hold it does not put it
   * back either.
   */
  others_write?: string[];
  /**
   * Folders that look empty except for the paths named in them. What the program writes there is
   * thrown away when it ends.
   */
  scratch?: string[];
  /** What can be neither read nor changed. */
  hidden: string[];
  /**
   * Folders below which no link may come to be: programs outside write to their files by name. A
   * new link is removed when the program ends.
   */
  without_links?: string[];
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
