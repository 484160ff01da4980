/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

/**
 * An effect that did not happen, or whose outcome is unknown. Programs branch on `kind`; people
 * read `message`.
 */
export interface Failure {
  /** Its kind. */
  kind: FailureKind;
  /** The message of the operating system or git, and its subject. */
  message: string;
  /** What a person can do about it. */
  fix?: FailureFix | null;
}

/** Kinds of failure that programs distinguish. */
export type FailureKind =
  /** The subject does not exist. */
  | "not_found"
  /** Something exists that must not. */
  | "exists"
  /** The state differs from the expected one. */
  | "conflict"
  /** Not permitted, or a read-only file system. */
  | "denied"
  /** No space left, or a quota is used up. */
  | "full"
  /** Larger than the limit. */
  | "too_large"
  /** A file where a folder was expected, or the reverse; not UTF-8; an impossible path. */
  | "invalid"
  /** Another process holds it. */
  | "busy"
  /** The other side is gone: a person, a server or a reader. */
  | "closed"
  /** The person pressed Ctrl-C. */
  | "interrupted"
  /** This host cannot do it. */
  | "unsupported"
  /**
   * The outcome is unknown: it may have happened, in part or as a whole, or a power cut may undo
   * it. Check before trying again.
   */
  | "unknown"
  /** Anything else. */
  | "other";

/** What a person can do about a failure. */
export interface FailureFix {
  /** An instruction, in lower case. */
  text: string;
  /** The command that does it. */
  command?: string | null;
}
