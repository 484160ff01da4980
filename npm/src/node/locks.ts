/**
 * Lock files, in the same form as those of the native host.
 *
 * A lock file appears complete under its name in one step. It names its holder, who also holds the
 * kernel's lock on it. Another process breaks the lock only when the holder is gone *and* the kernel's
 * lock is free. It takes the kernel's lock on the old file, checks that the path still leads to that
 * file, and renames its own file over it. A second process fails at one of these checks.
 *
 * Without a helper for the kernel's lock we break no locks. Our own locks then name a machine that does
 * not exist, so that other processes do not break them.
 */

import { type BigIntStats, fstatSync, lstatSync, unlinkSync } from "node:fs";
import { type FileHandle, lstat } from "node:fs/promises";
import { dirname } from "node:path";
import { Failure } from "../failure.js";
import type { Asked } from "../host.js";
import type { LockHolder, ProcessRole } from "../vocabulary.js";
import { failure, is, onPath } from "./errors.js";
import { openToInspect, readAt } from "./files.js";
import { type Holder, isGone, parse, shown, toLine } from "./holder.js";
import type { Interrupts } from "./interrupts.js";
import { tryLock } from "./kernel_lock.js";
import type { Identity } from "./process_table.js";
import { Temporary, createFolders } from "./publish.js";
import type { Root } from "./root.js";

/** Longest line that is read; ours have about 150 bytes. */
const LINE_BYTES = 4096;
/** First pause between attempts; each further one is twice as long. */
const FIRST_PAUSE_MS = 1;
/** Longest pause between attempts. Locks are held for a read and a write. */
const LONGEST_PAUSE_MS = 50;
/**
 * How long to wait for the kernel's lock of an ended process. A child that it was starting may have
 * inherited the lock, and another process may be inspecting it.
 */
const GONE_WAIT_MS = 1000;

/** Why we did not get a lock. */
type Obstacle =
  | { why: "alive" | "looks_gone" | "elsewhere" | "unbreakable"; holder: Holder }
  | { why: "unreadable" };

type Inspection =
  | { found: "free" }
  | { found: "held"; obstacle: Obstacle }
  | { found: "dead"; file: FileHandle };

/** The content and permissions of a lock file of ours. */
interface LockOptions {
  nowMs: number;
  isPrivate: boolean;
  role: ProcessRole | null;
}

/** `changed`: the obstacle has just gone, so the next attempt may succeed at once. */
type Attempt = { held: FileHandle } | { obstacle: Obstacle } | "changed";

export class NodeLocks {
  readonly #root: Root;
  readonly #identity: Identity;
  readonly #interrupts: Interrupts;
  readonly #held = new Map<string, FileHandle>();

  constructor(root: Root, identity: Identity, interrupts: Interrupts) {
    this.#root = root;
    this.#identity = identity;
    this.#interrupts = interrupts;
  }

  /** Becomes the only holder of a lock file, which says `nowMs` for people. */
  async lock({ path, wait_ms: waitMs, private: isPrivate, role = null }: Asked<"lock">, nowMs: number): Promise<void> {
    const options = { nowMs, isPrivate, role };
    const target = this.#root.resolve(path);
    if (this.#held.has(target)) {
      throw new Failure("busy", `this program already holds the lock \`${path}\``);
    }
    const end = performance.now() + waitMs;
    const goneEnd = performance.now() + GONE_WAIT_MS;
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      const attempt = await onPath("lock", path, () => this.#attempt(target, options));
      if (attempt === "changed") continue;
      if ("held" in attempt) {
        this.#held.set(target, attempt.held);
        return;
      }
      const gone = attempt.obstacle.why === "looks_gone";
      const left = (gone ? Math.max(end, goneEnd) : end) - performance.now();
      if (left <= 0 || !mayEnd(attempt.obstacle)) throw refusal(attempt.obstacle, path);
      await this.#interrupts.sleep(Math.min(pause, left));
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  async unlock(path: string): Promise<void> {
    const target = this.#root.resolve(path);
    const file = this.#held.get(target);
    if (file === undefined) {
      throw new Failure("conflict", `this program does not hold the lock \`${path}\``);
    }
    this.#held.delete(target);
    let ours: boolean;
    try {
      ours = release(target, file.fd);
    } catch (error) {
      throw failure(error, `cannot unlock \`${path}\``);
    } finally {
      await file.close();
    }
    if (!ours) {
      throw new Failure("conflict", `the lock \`${path}\` was taken away while it was held`);
    }
  }

  async holder(path: string): Promise<LockHolder | null> {
    const target = this.#root.resolve(path);
    return onPath("look at", path, async () => {
      const file = await openLock(target);
      if (file === undefined) return null;
      try {
        const holder = await readHolder(file);
        if (holder === undefined) throw refusal({ why: "unreadable" }, path);
        const { pid, host, started, role } = holder;
        // A shared lock, so that several processes can inspect at once. Closing the file releases it.
        const live =
          host === this.#identity.host &&
          (!isGone(holder) || (await tryLock(file, "shared")) === "held");
        return { process: { pid, host, started }, live, role };
      } finally {
        await file.close();
      }
    });
  }

  async releaseAll(): Promise<void> {
    const files = [...this.#held.values()];
    this.releaseAllNow();
    await Promise.all(files.map((file) => file.close()));
  }

  /** Releases all locks synchronously. Locks that another process took over stay. */
  releaseAllNow(): void {
    for (const [target, file] of this.#held) {
      try {
        release(target, file.fd);
      } catch {
        // The next process breaks the lock, because this one has ended by then.
      }
    }
    this.#held.clear();
  }

  async #attempt(target: string, options: LockOptions): Promise<Attempt> {
    const inspection = await this.#inspect(target);
    switch (inspection.found) {
      case "held":
        return { obstacle: inspection.obstacle };
      case "free": {
        const ours = await this.#prepare(target, options);
        try {
          await ours.publishNew(target);
        } catch (error) {
          await ours.discard();
          if (is(error, "EEXIST")) return "changed";
          throw error;
        }
        return { held: ours.file };
      }
      case "dead":
        try {
          return await this.#takeOver(inspection.file, target, options);
        } finally {
          await inspection.file.close();
        }
    }
  }

  /** Inspects the lock file at `target`. */
  async #inspect(target: string): Promise<Inspection> {
    const file = await openLock(target);
    if (file === undefined) return { found: "free" };
    const inspection = await this.#judge(file).catch(async (error: unknown) => {
      await file.close();
      throw error;
    });
    if (inspection.found !== "dead") await file.close();
    return inspection;
  }

  async #judge(file: FileHandle): Promise<Inspection> {
    const held = (obstacle: Obstacle): Inspection => ({ found: "held", obstacle });
    const holder = await readHolder(file);
    if (holder === undefined) return held({ why: "unreadable" });
    if (holder.host !== this.#identity.host) return held({ why: "elsewhere", holder });
    if (!isGone(holder)) return held({ why: "alive", holder });
    switch (await tryLock(file)) {
      case "taken":
        return { found: "dead", file };
      case "held":
        return held({ why: "looks_gone", holder });
      case "unsupported":
        return held({ why: "unbreakable", holder });
    }
  }

  /** Replaces the lock of an ended process. Its file is open, and we hold the kernel's lock on it. */
  async #takeOver(dead: FileHandle, target: string, options: LockOptions): Promise<Attempt> {
    const ours = await this.#prepare(target, options);
    try {
      if (isAt(dead.fd, target)) {
        await ours.publish(target);
        return { held: ours.file };
      }
    } catch (error) {
      await ours.discard();
      throw error;
    }
    await ours.discard();
    return "changed";
  }

  /** Writes a complete lock file under a temporary name, and takes the kernel's lock on it. */
  async #prepare(target: string, { nowMs, isPrivate, role }: LockOptions): Promise<Temporary> {
    const folder = dirname(target);
    await createFolders(folder, false, isPrivate);
    const temporary = await Temporary.create(folder, isPrivate);
    try {
      const locked = (await tryLock(temporary.file)) === "taken";
      await temporary.file.writeFile(toLine(this.#name(locked), nowMs, role));
    } catch (error) {
      await temporary.discard();
      throw error;
    }
    return temporary;
  }

  /** The identity in a lock file. Without the kernel's lock, no process may break the file. */
  #name(locked: boolean): Identity {
    if (locked || process.platform === "win32") return this.#identity;
    return { ...this.#identity, host: `${this.#identity.host} (without kernel locks)` };
  }
}

/** Opens a lock file for inspection; `undefined` if there is none. */
async function openLock(target: string): Promise<FileHandle | undefined> {
  try {
    const stats = await lstat(target);
    if (!stats.isFile()) throw notRegular();
    return await openToInspect(target);
  } catch (error) {
    if (is(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The holder that a lock file names, if it names one. */
async function readHolder(file: FileHandle): Promise<Holder | undefined> {
  if (!(await file.stat()).isFile()) throw notRegular();
  return parse((await readAt(file, 0, LINE_BYTES)).toString("utf8"));
}

/** Removes the lock file if the path still leads to our open file. */
function release(target: string, fd: number): boolean {
  const ours = isAt(fd, target);
  if (ours) unlinkSync(target);
  return ours;
}

function isAt(fd: number, target: string): boolean {
  const open = fstatSync(fd, { bigint: true });
  let named: BigIntStats;
  try {
    named = lstatSync(target, { bigint: true });
  } catch (error) {
    if (is(error, "ENOENT")) return false;
    throw error;
  }
  return named.dev === open.dev && named.ino === open.ino;
}

function notRegular(): Failure {
  return new Failure("invalid", "a lock is a regular file; something else is in its place");
}

/** Whether waiting may help. */
function mayEnd({ why }: Obstacle): boolean {
  return why === "alive" || why === "looks_gone" || why === "elsewhere";
}

function refusal(obstacle: Obstacle, path: string): Failure {
  const busy = (what: string): Failure => new Failure("busy", `\`${path}\` is ${what}`);
  switch (obstacle.why) {
    case "alive":
    case "looks_gone":
      return busy(`held by ${shown(obstacle.holder)}; wait for it or end it`);
    case "elsewhere": {
      const { holder } = obstacle;
      const rest = "if that process has ended, remove the file";
      return busy(`held by ${shown(holder)} on \`${holder.host}\`; ${rest}`);
    }
    case "unreadable":
      return busy("damaged: it does not name its holder; if no onloop runs, remove the file");
    case "unbreakable": {
      const rest = "onloop cannot take it over safely here, so remove the file";
      return busy(`held by ${shown(obstacle.holder)}, which is gone; ${rest}`);
    }
  }
}
