/**
 * Files and folders.
 *
 * A write creates a temporary file in the same folder and renames it over the target. Reads follow
 * a final symbolic link. Writes do not, because an agent may have planted the link.
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
import { partlyDone, is, onPath, notDurable } from "./errors.js";
import { fileBits, keepPrivate } from "./permissions.js";
import { type Durability, Temporary, createFolders, syncFolder } from "./publish.js";
import { removeTree } from "./removal.js";
import type { Root } from "./root.js";

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY } = constants;
// An open of a named pipe does not block, and that of a terminal does not take it over. Windows has
// neither flag.
const NON_BLOCKING = (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const NO_FOLLOW = NON_BLOCKING | (constants.O_NOFOLLOW ?? 0);

export class NodeFiles {
  readonly #root: Root;
  readonly #warn: (message: string) => void;
  #isWarned = false;

  /** `warn` shows a warning about the disk to the person. */
  constructor(root: Root, warn: (message: string) => void) {
    this.#root = root;
    this.#warn = warn;
  }

  async read({ path, limit_bytes: limitBytes }: Asked<"read">): Promise<Outcome> {
    const target = this.#root.resolve(path);
    return onPath("read", path, () =>
      using(open(target, O_RDONLY | NON_BLOCKING), async (file) => {
        const stats = await file.stat({ bigint: true });
        demandRegular(stats, "read", path);
        if (stats.size > BigInt(limitBytes)) throw tooLarge(path, Number(stats.size), limitBytes);
        const bytes = await readUpTo(file, Number(stats.size), limitBytes + 1);
        if (bytes.length > limitBytes) throw tooLarge(path, bytes.length, limitBytes);
        // The version is older than the content. After a change in between, a write that expects it
        // fails, as it should.
        return { is: "file", bytes, version: version(stats) };
      }),
    );
  }

  async readTail({ path, limit_bytes: limitBytes }: Asked<"read_tail">): Promise<Outcome> {
    const target = this.#root.resolve(path);
    return onPath("read", path, () =>
      using(open(target, O_RDONLY | NON_BLOCKING), async (file) => {
        const stats = await file.stat({ bigint: true });
        demandRegular(stats, "read", path);
        const sizeBytes = Number(stats.size);
        const start = Math.max(0, sizeBytes - limitBytes);
        // A later read returns bytes that are appended meanwhile.
        return { is: "tail", bytes: await readAt(file, start, sizeBytes - start), size_bytes: sizeBytes };
      }),
    );
  }

  async write({ path, bytes, expect, durable, private: isPrivate }: Asked<"write">): Promise<Outcome> {
    const target = this.#root.resolve(path);
    if (["", ".."].includes(basename(target))) {
      throw new Failure("invalid", `\`${path}\` does not name a file`);
    }
    const existing = await existingFile(target, path);
    demandExpected(expect, existing, path);
    const folder = dirname(target);
    return onPath("write", path, async () => {
      const made = await createFolders(folder, durable, isPrivate);
      const temporary = await Temporary.create(folder, isPrivate, existing);
      try {
        await temporary.file.writeFile(bytes);
        await setUniqueTime(temporary.file);
        if (durable) await temporary.file.sync();
        if (expect === "absent") {
          await temporary.publishNew(target);
        } else {
          if (expect !== "any") demandExpected(expect, await existingFile(target, path), path);
          await temporary.publish(target);
        }
      } catch (error) {
        await temporary.discard();
        throw error;
      }
      // The file is in place now, so a further error must not say that nothing was written.
      try {
        // The open file, because the path may lead to a later writer's file.
        const ours = await using(temporary.file, async (file) => version(await file.stat({ bigint: true })));
        this.#warnUnlessDurable(made, durable ? await syncFolder(folder) : "durable", folder);
        return { is: "written", version: ours };
      } catch (error) {
        throw notDurable(error, path);
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
        demandRegular(stats, "append to", path);
        if (isPrivate) await keepPrivate(file);
        if (stats.size !== BigInt(expectLenBytes)) {
          throw conflict(path, `has ${stats.size} bytes; ${expectLenBytes} expected`);
        }
        try {
          await file.appendFile(bytes);
          if (durable) await file.datasync();
        } catch (error) {
          // A full disk accepts some of the bytes. The next append expects the old size.
          await file.truncate(expectLenBytes).catch(() => {
            throw partlyDone(error, "append to", path);
          });
          throw error;
        }
      });
      try {
        this.#warnUnlessDurable(made, created && durable ? await syncFolder(folder) : "durable", folder);
      } catch (error) {
        throw notDurable(error, path);
      }
    });
  }

  async patch({ path, offset_bytes: offsetBytes, old, new: replacement }: Asked<"patch">): Promise<void> {
    if (old.length !== replacement.length) {
      const sizes = `${replacement.length} bytes cannot replace ${old.length}`;
      throw new Failure("invalid", `cannot change \`${path}\` in place: ${sizes}`);
    }
    const target = this.#root.resolve(path);
    await onPath("change", path, () =>
      using(open(target, O_RDWR | NO_FOLLOW), async (file) => {
        demandRegular(await file.stat({ bigint: true }), "change", path);
        const found = await readAt(file, offsetBytes, old.length);
        if (Buffer.compare(found, old) !== 0) {
          const what = `holds something else at byte ${offsetBytes} than expected`;
          throw conflict(path, what);
        }
        await writeAt(file, offsetBytes, replacement).catch((error: unknown) => {
          throw partlyDone(error, "change", path);
        });
      }),
    );
  }

  /** Warns once that new files may not survive a power cut. */
  #warnUnlessDurable(made: Durability, synced: Durability, folder: string): void {
    if (this.#isWarned || (made === "durable" && synced === "durable")) return;
    this.#isWarned = true;
    this.#warn(
      `the file system of \`${folder}\` cannot sync folders;\n  a power cut may undo the last writes there`,
    );
  }

  async remove(path: string): Promise<void> {
    const target = this.#root.resolve(path);
    if (this.#root.isInside(target)) {
      const why = "it contains the current folder";
      throw new Failure("invalid", `refused to remove \`${path}\`: ${why}`);
    }
    await onPath("remove", path, async () => {
      const stats = await lstat(target);
      await (stats.isDirectory() ? removeTree(target) : unlink(target));
    });
  }

  /** Leaves out names that are not UTF-8, because no request could name them. */
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
        ...(isOfAnotherUser(stats) && { foreign: true }),
      };
    });
  }

  async canonical(path: string): Promise<string> {
    const target = this.#root.resolve(path);
    return onPath("resolve", path, () => realpath(target));
  }
}

/** Opens the file that receives the output of a process. */
export async function openStream(
  root: Root,
  path: string,
  isPrivate: boolean,
): Promise<FileHandle> {
  const target = root.resolve(path);
  return onPath("write", path, async () => {
    await createFolders(dirname(target), false, isPrivate);
    const flags = O_WRONLY | O_APPEND | O_CREAT | NO_FOLLOW;
    const file = await open(target, flags, fileBits(isPrivate));
    try {
      demandRegular(await file.stat({ bigint: true }), "write", path);
      if (isPrivate) await keepPrivate(file);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  });
}

/** Opens a path that may not be a regular file. The caller checks that before it reads. */
export function openToInspect(target: string): Promise<FileHandle> {
  return open(target, O_RDONLY | NO_FOLLOW);
}

async function openToAppend(
  target: string,
  path: string,
  expectLenBytes: number,
  isPrivate: boolean,
): Promise<{ file: FileHandle; created: boolean }> {
  const flags = O_WRONLY | O_APPEND | NO_FOLLOW;
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

/** Calls `work` with an open file and closes the file afterwards. */
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

/** Reads `length` bytes from `start` on, or fewer at the end of the file. */
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

/** Overwrites the bytes from `start` on. */
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

/** The file at `target`, if there is one. Refuses anything but a regular file. */
async function existingFile(target: string, path: string): Promise<BigIntStats | undefined> {
  return onPath("write", path, async () => {
    const stats = await lstat(target, { bigint: true }).catch((error: unknown) => {
      if (is(error, "ENOENT")) return undefined;
      throw error;
    });
    if (stats !== undefined) demandRegular(stats, "write", path);
    return stats;
  });
}

function demandRegular(stats: BigIntStats, verb: string, path: string): void {
  const what = {
    file: undefined,
    folder: "it is a folder, not a file",
    link: "it is a symbolic link, and onloop does not follow links there; use the path it leads to",
    other: "it is a device, a pipe or a socket, not a file",
  }[fileKind(stats)];
  if (what !== undefined) throw new Failure("invalid", `cannot ${verb} \`${path}\`: ${what}`);
}

function demandExpected(expect: Expect, existing: BigIntStats | undefined, path: string): void {
  if (expect === "any") return;
  if (expect === "absent") {
    if (existing === undefined) return;
    throw new Failure("exists", `cannot write \`${path}\`: something is already there`);
  }
  if (existing === undefined) throw conflict(path, "is gone");
  if (version(existing) !== expect.version) throw conflict(path, "was changed by another process");
}

/** Seconds since 1970, larger at every call. */
let lastTime = 0;

/**
 * Gives the file a modification time that no other write of ours has. The kernel's clock is coarse and
 * inodes are reused, so two versions could look the same otherwise.
 */
async function setUniqueTime(file: FileHandle): Promise<void> {
  // The clock has milliseconds. The digits below only have to differ.
  const below = Number(process.hrtime.bigint() % 1_000_000n) / 1e9;
  lastTime = Math.max(Date.now() / 1000 + below, lastTime + 1e-6);
  await file.utimes(lastTime, lastTime);
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
  // Windows has no permission bits, so any file may be a program.
  return process.platform === "win32" || (stats.mode & 0o111n) !== 0n;
}

/** Whether the file belongs to a user who is neither root nor us. Windows has no numeric users. */
function isOfAnotherUser(stats: BigIntStats): boolean {
  const user = process.geteuid?.();
  return user !== undefined && stats.uid !== 0n && stats.uid !== BigInt(user);
}

/**
 * Identifies the content of a file. A writer that replaces the file changes its inode, and a write in
 * place changes its times or its length.
 */
function version(stats: BigIntStats): Version {
  const { dev, ino, mtimeNs, ctimeNs, size } = stats;
  return [dev, ino, mtimeNs, ctimeNs, size].map((part) => part.toString(16)).join(".");
}
