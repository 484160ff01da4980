/**
 * What programs ask of a host, and what it answers.
 *
 * Generated from `core/effect/src` by `cargo xtask generate`; do not edit.
 */

/** The expected state of a path before a write. */
export type Expect =
  /** Any. */
  | "any"
  /** Absent; otherwise the failure is `exists`. */
  | "absent"
  /** The version of an earlier reply; otherwise the failure is `conflict`. */
  | { version: Version };

/** Names one content of one file at one time. Opaque; the host makes and compares it. */
export type Version = string;

/** Whether a write must survive a power cut. */
export type Durability = boolean;

/** A file and its size. */
export interface FileSize {
  /** The file. */
  path: string;
  /** Its size. */
  size_bytes: number;
}

/** Facts about a path. */
export interface Stat {
  /** File, folder or something else. */
  kind: FileKind;
  /** Size in bytes; 0 for folders. */
  size_bytes: number;
  /** The time of the last content change. Milliseconds since 1970. */
  modified_ms: number;
  /** Whether the file is executable. */
  executable: boolean;
  /**
   * Whether a user other than this one and the system's own accounts owns it. Unknown, and `false`,
   * on Windows.
   */
  foreign?: boolean;
}

/** The kind of a path. */
export type FileKind =
  /** A regular file. */
  | "file"
  /** A folder. */
  | "folder"
  /** A symbolic link. */
  | "link"
  /** A socket, a device or a pipe. */
  | "other";
