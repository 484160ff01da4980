/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

import type {
  OperatingSystem,
} from "./process_vocabulary.js";

/** The start of a program. */
export interface Start {
  /** Command line; the first word is the name of the program. */
  argv: string[];
  /**
   * The words that start this program again from any folder: its absolute path, or those of an
   * interpreter and a script. Empty if that is impossible, as in a host that embeds core.
   */
  program?: string[];
  /** Environment variables; names and values that are not UTF-8 are left out. */
  env: Record<string, string>;
  /** Absolute current folder, the base of relative paths in requests. */
  cwd: string;
  /** Time at start. Milliseconds since 1970. */
  now_ms: number;
  /** The kinds of the standard streams. */
  terminal: Terminal;
  /** The process that runs the program; written into locks. */
  process: ProcessIdentity;
  /** The operating system of the host; `null`: another one, or unknown. */
  system?: OperatingSystem | null;
  /**
   * What the process does besides this program; written into locks. `null`: a command line, which
   * runs this program and nothing else.
   */
  role?: ProcessRole | null;
  /**
   * Time that a process of a run may take before the record announces it, in milliseconds. A
   * process that ends sooner is recorded with its result. For hosts whose records are remote. 0:
   * the record announces each process at once, so a later program can stop what a killed one left.
   */
  quick_ms?: number;
  /**
   * Unpredictable bytes, the program's only source of randomness. Thirty-two hexadecimal digits.
   */
  random: string;
}

/** The kinds of the standard streams. */
export interface Terminal {
  /** Whether a person can answer questions. */
  stdin: boolean;
  /** Whether a person reads the results. */
  stdout: boolean;
  /** Whether a person reads the notes. */
  stderr: boolean;
  /** Width; 80 if unknown. */
  columns: number;
}

/** A process, named so that another one can tell whether it still exists. */
export interface ProcessIdentity {
  /** Process id on `host`. */
  pid: number;
  /** Name of the machine. */
  host: string;
  /**
   * The start time of the process, in the operating system's own unit and text. With the pid it
   * names one process even after pids wrap around. Empty if unknown.
   */
  started: string;
}

/** The role of a process that is not an ordinary command line. */
export type ProcessRole =
  /** A program that embeds core, such as an editor. */
  | "embedded"
  /** A server, which serves several clients at once. */
  | "server"
  /** A command line in the background, which drives a run and nothing else. */
  | "background";
