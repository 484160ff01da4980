/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
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
   * What that process is besides this program; written into locks as well. `null`: a command line,
   * which does what this program does and nothing else.
   */
  role?: ProcessRole | null;
  /**
   * How long what works for a run may take before the record says that it does, in milliseconds;
   * what is over sooner is recorded with what it has done. For hosts whose records are far away. 0:
   * the record says so at once, and whoever finds this program killed knows what else to end.
   */
  quick_ms?: number;
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

/**
 * What a process is that does other things besides one program, so that nobody interrupts it
 * because of that program.
 */
export type ProcessRole =
  /** Another program, such as an editor, that has the core inside. */
  | "embedded"
  /** A server, which does other things for others at the same time. */
  | "server";
