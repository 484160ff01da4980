/** Translates errors of the operating system into failures that programs can branch on. */

import { getSystemErrorMap } from "node:util";
import { Failure, type FailureKind } from "../failure.js";

const KINDS: Record<string, FailureKind> = {
  ENOENT: "not_found",
  EEXIST: "exists",
  ENOTEMPTY: "exists",
  EACCES: "denied",
  EPERM: "denied",
  EROFS: "denied",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "too_large",
  E2BIG: "too_large",
  ENOTDIR: "invalid",
  EISDIR: "invalid",
  ENAMETOOLONG: "invalid",
  EINVAL: "invalid",
  EILSEQ: "invalid",
  ELOOP: "invalid",
  ENXIO: "invalid",
  EBUSY: "busy",
  ETXTBSY: "busy",
  EAGAIN: "busy",
  EPIPE: "closed",
  ENOSYS: "unsupported",
  EOPNOTSUPP: "unsupported",
  ENOTSUP: "unsupported",
};

const REASONS: Record<string, string> = {
  ENOENT: "no such file or folder",
  EEXIST: "something is already there",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device; free some and try again",
  EDQUOT: "the disk quota is used up; free some and try again",
  ENOTDIR: "a part of the path is a file, not a folder",
  EISDIR: "it is a folder, not a file",
  ELOOP: "it is or contains a symbolic link that is not followed",
  ENXIO: "it is a device, a pipe or a socket, not a file",
};

/** Refuses a request that only a newer core sends. */
export function unknownRequest(request: never): never {
  throw new Failure("unsupported", `this host does not know the request ${JSON.stringify(request)}`);
}

/** The name of a system error, such as `ENOENT`; `undefined` for any other error. */
export function code(error: unknown): string | undefined {
  const isSystem = error instanceof Error && "code" in error && "errno" in error;
  return isSystem ? String(error.code) : undefined;
}

/** Whether a system call failed with the code `wanted`. */
export function is(error: unknown, wanted: string): boolean {
  return code(error) === wanted;
}

/** The error as text for people. */
export function reason(error: unknown): string {
  const name = code(error);
  if (name === undefined) return error instanceof Error ? error.message : String(error);
  const known = REASONS[name];
  if (known !== undefined) return known;
  const errno = Number((error as NodeJS.ErrnoException).errno);
  return getSystemErrorMap().get(errno)?.[1] ?? name;
}

/** The failure for a system error. Rethrows any other error, because it is a bug. */
export function failure(error: unknown, what: string): Failure {
  if (error instanceof Failure) return error;
  const name = code(error);
  if (name === undefined) throw error;
  return new Failure(KINDS[name] ?? "other", `${what}: ${reason(error)}`);
}

/** The failure of a write to `path` that happened, but may not survive a power cut. */
export function notDurable(error: unknown, path: string): unknown {
  if (code(error) === undefined) return error;
  return new Failure("unknown", `\`${path}\` was written, but a power cut may undo that: ${reason(error)}`);
}

/** The failure of an operation on `path` that happened in part. */
export function partlyDone(error: unknown, verb: string, path: string): unknown {
  if (code(error) === undefined) return error;
  return new Failure("unknown", `cannot ${verb} \`${path}\` as a whole: ${reason(error)}`);
}

/** Does `work`; a failure says what `verb` did not do to `path`. */
export async function onPath<T>(verb: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failure(error, `cannot ${verb} \`${path}\``);
  }
}
