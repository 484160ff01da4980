/**
 * Files and folders.
 *
 * A file is replaced by writing a temporary one in the same folder and renaming it. Final
 * symbolic links are read through but never written through: what an agent left in our folders
 * must not lead our own writes somewhere else.
 */

import { type BigIntStats, constants } from "node:fs";
import {
  type FileHandle,
  lstat,
  open,
  readdir,
  realpath,
  unlink,
} from "node:fs/promises";
import { basename, dirname } from "node:path";
import { Failure } from "../failure.js";
import type { Asked } from "../host.js";
import type { Expect, Outcome, Stat, Version } from "../vocabulary.js";
import { inPart, is, onPath, undoneByPower } from "./errors.js";
import { fileBits, keepPrivate } from "./permissions.js";
import { type Names, Temporary, createFolders, syncFolder } from "./publish.js";
import { removeTree } from "./removal.js";
import type { Root } from "./root.js";

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY } = constants;
// Neither blocks on a pipe without a partner nor acquires a controlling terminal; missing on
// Windows.
const CAREFUL = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const NO_LINKS = CAREFUL | (constants.O_NOFOLLOW ?? 0);

export class NodeFiles {
  readonly #root: Root;
  readonly #warn: (message: string) => void;
  #isWarned = false;

  /** `warn` tells people what they should know about the disk. */
  constructor(root: Root, warn: (message: string) => void) {
    this.#root = root;
    this.#warn = warn;
  }

  async read({ path, limit_bytes: limitBytes }: Asked<"read">): Promise<Outcome> {
    const target = this.#root.resolve(path);
    return onPath("read", path, () =>
      using(open(target, O_RDONLY | CAREFUL), async (file) => {
        const stats = await file.stat({ bigint: true });
        regular(stats, "read", path);
        if (stats.size > BigInt(limitBytes)) throw tooLarge(path, Number(stats.size), limitBytes);
        const bytes = await readUpTo(file, Number(stats.size), limitBytes + 1);
        if (bytes.length > limitBytes) throw tooLarge(path, bytes.length, limitBytes);
        // The version was taken before the content: a change in between makes it stale, and a
        // later write that expects it fails, as it should.
        return { is: "file", bytes, version: version(stats) };
      }),
    );
  }

  async readTail({ path, limit_bytes: limitBytes }: Asked<"read_tail">): Promise<Outcome> {
    const target = this.#root.resolve(path);
    return onPath("read", path, () =>
      using(open(target, O_RDONLY | CAREFUL), async (file) => {
        const stats = await file.stat({ bigint: true });
        regular(stats, "read", path);
        const sizeBytes = Number(stats.size);
        const start = Math.max(0, sizeBytes - limitBytes);
        // What is added in the meantime belongs to a later read.
        return { is: "tail", bytes: await readAt(file, start, sizeBytes - start), size_bytes: sizeBytes };
      }),
    );
  }

  async write({ path, bytes, expect, durable, private: isPrivate }: Asked<"write">): Promise<Outcome> {
    const target = this.#root.resolve(path);
    if (["", ".."].includes(basename(target))) {
      throw new Failure("invalid", `\`${path}\` does not name a file`);
    }
    const existing = await replaceable(target, path);
    met(expect, existing, path);
    const folder = dirname(target);
    return onPath("write", path, async () => {
      const made = await createFolders(folder, durable, isPrivate);
      const temporary = await Temporary.create(folder, isPrivate, existing);
      try {
        await temporary.file.writeFile(bytes);
        await stamp(temporary.file);
        if (durable) await temporary.file.sync();
        if (expect === "absent") {
          await temporary.publishNew(target);
        } else {
          if (expect !== "any") met(expect, await replaceable(target, path), path);
          await temporary.publish(target);
        }
      } catch (error) {
        await temporary.discard();
        throw error;
      }
      // From here on it is there, whatever else goes wrong.
      try {
        // Asked of the file we hold, not of the path: it names what *we* wrote.
        const ours = await using(temporary.file, async (file) => version(await file.stat({ bigint: true })));
        this.#note(made, durable ? await syncFolder(folder) : "durable", folder);
        return { is: "written", version: ours };
      } catch (error) {
        throw undoneByPower(error, "written", path);
      }
    });
  }

  async append(request: Asked<"append">): Promise<void> {
    const { path, bytes, expect_len_bytes: expectLenBytes, durable, private: isPrivate } = request;
    const target = this.#root.resolve(path);
    await onPath("append to", path, async () => {
      const folder = dirname(target);
      const made = expectLenBytes === 0 ? await createFolders(folder, durable, isPrivate) : "durable";
      const { file, created } = await openToAppend(target, path, expectLenBytes, isPrivate);
      await using(file, async () => {
        const stats = await file.stat({ bigint: true });
        regular(stats, "append to", path);
        if (isPrivate) await keepPrivate(file);
        if (stats.size !== BigInt(expectLenBytes)) {
          throw conflict(path, `has ${stats.size} bytes; ${expectLenBytes} expected`);
        }
        try {
          await file.appendFile(bytes);
          if (durable) await file.datasync();
        } catch (error) {
          // A full disk accepts a part of the bytes; without this the next append, which expects
          // the old size, could never succeed.
          await file.truncate(expectLenBytes).catch(() => {
            throw inPart(error, "append to", path);
          });
          throw error;
        }
      });
      try {
        this.#note(made, created && durable ? await syncFolder(folder) : "durable", folder);
      } catch (error) {
        throw undoneByPower(error, "written", path);
      }
    });
  }

  async patch({ path, offset_bytes: offsetBytes, old, new: neu }: Asked<"patch">): Promise<void> {
    if (old.length !== neu.length) {
      const sizes = `${neu.length} bytes cannot replace ${old.length}`;
      throw new Failure("invalid", `cannot change \`${path}\` in place: ${sizes}`);
    }
    const target = this.#root.resolve(path);
    await onPath("change", path, () =>
      using(open(target, O_RDWR | NO_LINKS), async (file) => {
        regular(await file.stat({ bigint: true }), "change", path);
        const found = await readAt(file, offsetBytes, old.length);
        if (Buffer.compare(found, old) !== 0) {
          const what = `holds something else at byte ${offsetBytes} than expected`;
          throw conflict(path, what);
        }
        await writeAt(file, offsetBytes, neu).catch((error: unknown) => {
          throw inPart(error, "change", path);
        });
      }),
    );
  }

  /** Says once that names do not survive a power cut. */
  #note(made: Names, synced: Names, folder: string): void {
    if (this.#isWarned || (made === "durable" && synced === "durable")) return;
    this.#isWarned = true;
    this.#warn(
      `the file system of \`${folder}\` cannot make names durable;\n  a power cut may undo what was written there last`,
    );
  }

  async remove(path: string): Promise<void> {
    const target = this.#root.resolve(path);
    if (this.#root.standsOn(target)) {
      const why = "it contains the current folder";
      throw new Failure("invalid", `refused to remove \`${path}\`: ${why}`);
    }
    await onPath("remove", path, async () => {
      const stats = await lstat(target);
      await (stats.isDirectory() ? removeTree(target) : unlink(target));
    });
  }

  /** Names that are not UTF-8 are left out: no request could name them. */
  async list(path: string): Promise<string[]> {
    const target = this.#root.resolve(path);
    return onPath("list", path, async () => {
      const names = await readdir(target, { encoding: "buffer" });
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      return names.sort(Buffer.compare).flatMap((name) => {
        try {
          return [text.decode(name)];
        } catch {
          return [];
        }
      });
    });
  }

  async stat(path: string): Promise<Stat> {
    const target = this.#root.resolve(path);
    return onPath("look at", path, async () => {
      const stats = await lstat(target, { bigint: true });
      const kind = fileKind(stats);
      return {
        kind,
        size_bytes: kind === "folder" ? 0 : Number(stats.size),
        modified_ms: Number(stats.mtimeMs),
        executable: kind === "file" && isExecutable(stats),
        ...(isForeign(stats) && { foreign: true }),
      };
    });
  }

  async canonical(path: string): Promise<string> {
    const target = this.#root.resolve(path);
    return onPath("resolve", path, () => realpath(target));
  }
}

/** What a process writes to while it runs; opened here because the rules are the same. */
export async function openStream(
  root: Root,
  path: string,
  isPrivate: boolean,
): Promise<FileHandle> {
  const target = root.resolve(path);
  return onPath("write", path, async () => {
    await createFolders(dirname(target), false, isPrivate);
    const flags = O_WRONLY | O_APPEND | O_CREAT | NO_LINKS;
    const file = await open(target, flags, fileBits(isPrivate));
    try {
      regular(await file.stat({ bigint: true }), "write", path);
      if (isPrivate) await keepPrivate(file);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  });
}

/** Opens what may not be a regular file; the caller checks before it reads. */
export function openToInspect(target: string): Promise<FileHandle> {
  return open(target, O_RDONLY | NO_LINKS);
}

async function openToAppend(
  target: string,
  path: string,
  expectLenBytes: number,
  isPrivate: boolean,
): Promise<{ file: FileHandle; created: boolean }> {
  const flags = O_WRONLY | O_APPEND | NO_LINKS;
  if (expectLenBytes === 0) {
    try {
      const file = await open(target, flags | O_CREAT | O_EXCL, fileBits(isPrivate));
      return { file, created: true };
    } catch (error) {
      if (!is(error, "EEXIST")) throw error;
    }
  }
  try {
    return { file: await open(target, flags), created: false };
  } catch (error) {
    if (!is(error, "ENOENT")) throw error;
    throw conflict(path, `is gone; ${expectLenBytes} bytes expected`);
  }
}

/** Does something with a file and closes it, however that goes. */
async function using<T>(
  opening: FileHandle | Promise<FileHandle>,
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await opening;
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** `length` bytes from `start` on; fewer at the end of the file. The system may read fewer at a time. */
export async function readAt(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let have = 0;
  while (have < length) {
    const { bytesRead } = await file.read(bytes, have, length - have, start + have);
    if (bytesRead === 0) break;
    have += bytesRead;
  }
  return bytes.subarray(0, have);
}

/** Overwrites what is from `start` on. The system may write fewer at a time. */
async function writeAt(file: FileHandle, start: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, start + done);
    done += bytesWritten;
  }
}

async function readUpTo(file: FileHandle, expected: number, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let total = 0;
  let room = Math.min(expected + 1, limit);
  while (room > 0) {
    const part = new Uint8Array(room);
    const { bytesRead } = await file.read(part, 0, room, null);
    if (bytesRead === 0) break;
    parts.push(part.subarray(0, bytesRead));
    total += bytesRead;
    room = Math.min(Math.max(expected + 1 - total, 64 * 1024), limit - total);
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts, total);
}

/** What is at `target` now; nothing is fine, but only a regular file may be replaced. */
async function replaceable(target: string, path: string): Promise<BigIntStats | undefined> {
  return onPath("write", path, async () => {
    const stats = await lstat(target, { bigint: true }).catch((error: unknown) => {
      if (is(error, "ENOENT")) return undefined;
      throw error;
    });
    if (stats !== undefined) regular(stats, "write", path);
    return stats;
  });
}

function regular(stats: BigIntStats, act: string, path: string): void {
  const what = {
    file: undefined,
    folder: "it is a folder, not a file",
    link: "it is a symbolic link, and those are not followed here; use the path it leads to",
    other: "it is a device, a pipe or a socket, not a file",
  }[fileKind(stats)];
  if (what !== undefined) throw new Failure("invalid", `cannot ${act} \`${path}\`: ${what}`);
}

function met(expect: Expect, existing: BigIntStats | undefined, path: string): void {
  if (expect === "any") return;
  if (expect === "absent") {
    if (existing === undefined) return;
    throw new Failure("exists", `cannot write \`${path}\`: something is already there`);
  }
  if (existing === undefined) throw conflict(path, "is gone");
  if (version(existing) !== expect.version) throw conflict(path, "was changed by somebody else");
}

/** Seconds since 1970, later at every call. */
let lastStamp = 0;

/**
 * The kernel stamps files with a coarse clock, and a new file may get the number of one that
 * was just replaced: without a fine stamp two versions could look the same.
 */
async function stamp(file: FileHandle): Promise<void> {
  // The clock has milliseconds; what is below them only has to differ.
  const below = Number(process.hrtime.bigint() % 1_000_000n) / 1e9;
  lastStamp = Math.max(Date.now() / 1000 + below, lastStamp + 1e-6);
  await file.utimes(lastStamp, lastStamp);
}

function conflict(path: string, what: string): Failure {
  return new Failure("conflict", `\`${path}\` ${what}`);
}

function tooLarge(path: string, size: number, limit: number): Failure {
  return new Failure("too_large", `\`${path}\` has ${size} bytes; at most ${limit} are read`);
}

function fileKind(stats: BigIntStats): Stat["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "other";
}

function isExecutable(stats: BigIntStats): boolean {
  // Without permission bits every file may be tried.
  return process.platform === "win32" || (stats.mode & 0o111n) !== 0n;
}

/** What root owns is as the system is; Windows has no numbers for users. */
function isForeign(stats: BigIntStats): boolean {
  const user = process.geteuid?.();
  return user !== undefined && stats.uid !== 0n && stats.uid !== BigInt(user);
}

/**
 * Identifies a file's content by everything that changes with it: a writer that replaces the file
 * changes the inode, one that writes in place changes times or length.
 */
function version(stats: BigIntStats): Version {
  const { dev, ino, mtimeNs, ctimeNs, size } = stats;
  return [dev, ino, mtimeNs, ctimeNs, size].map((part) => part.toString(16)).join(".");
}
