/**
 * Lock files, shared with the native host: the same file, the same line, the same two proofs
 * before a lock is broken.
 *
 * The file appears complete under its name in one step and names its holder, who also keeps
 * the kernel's lock on it. It is broken only when the process it names is gone *and* the
 * kernel's lock is free. The process that breaks one first takes the kernel's lock on the dead file, then
 * checks that the name still leads to it, and only then renames its own file over it; a second
 * breaker is refused the kernel's lock, or finds that the name leads elsewhere.
 *
 * Where no program can take the kernel's lock for us, we break no locks, and our own locks name a
 * machine that does not exist, so that no other process breaks them either.
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

/** Longest line read; ours have about 150 bytes. */
const LINE_BYTES = 4096;
/** First pause of a waiter; each further one doubles. */
const FIRST_PAUSE_MS = 1;
/** Longest pause of a waiter: a lock is held for a read and a write, so more is wasted. */
const LONGEST_PAUSE_MS = 50;
/**
 * How long the kernel's lock of a process that is gone is waited for: a child that it was just
 * starting may still have it, or a process that looks.
 */
const GONE_WAIT_MS = 1000;

/** Why a lock is not ours. */
type Obstacle =
  | { why: "alive" | "looks_gone" | "elsewhere" | "unbreakable"; holder: Holder }
  | { why: "unreadable" };

type Inspection =
  | { found: "free" }
  | { found: "held"; obstacle: Obstacle }
  | { found: "dead"; file: FileHandle };

/** What a lock file of ours is like. */
interface Ours {
  nowMs: number;
  isPrivate: boolean;
  role: ProcessRole | null;
}

/** `changed`: what was in the way has just gone; trying again may succeed at once. */
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

  /** Becomes the only holder of a lock file; `nowMs` is written into it for people. */
  async lock({ path, wait_ms: waitMs, private: isPrivate, role = null }: Asked<"lock">, nowMs: number): Promise<void> {
    const ours = { nowMs, isPrivate, role };
    const target = this.#root.resolve(path);
    if (this.#held.has(target)) {
      throw new Failure("busy", `this program already holds the lock \`${path}\``);
    }
    const end = performance.now() + waitMs;
    const goneEnd = performance.now() + GONE_WAIT_MS;
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      const attempt = await onPath("lock", path, () => this.#attempt(target, ours));
      if (attempt === "changed") continue;
      if ("held" in attempt) {
        this.#held.set(target, attempt.held);
        return;
      }
      const gone = attempt.obstacle.why === "looks_gone";
      const left = (gone ? Math.max(end, goneEnd) : end) - performance.now();
      if (left <= 0 || !mayPass(attempt.obstacle)) throw refusal(attempt.obstacle, path);
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
        // Shared, so that several can look at once; let go with the file.
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

  /** Releases everything when there is no time to wait. Locks that are no longer ours stay. */
  releaseAllNow(): void {
    for (const [target, file] of this.#held) {
      try {
        release(target, file.fd);
      } catch {
        // The next process finds the lock of a dead one and breaks it.
      }
    }
    this.#held.clear();
  }

  async #attempt(target: string, like: Ours): Promise<Attempt> {
    const inspection = await this.#inspect(target);
    switch (inspection.found) {
      case "held":
        return { obstacle: inspection.obstacle };
      case "free": {
        const ours = await this.#prepare(target, like);
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
          return await this.#takeOver(inspection.file, target, like);
        } finally {
          await inspection.file.close();
        }
    }
  }

  /** Looks at what is at `target` without changing it. */
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

  /** Replaces the lock of a dead process, whose file is open under the kernel's lock. */
  async #takeOver(dead: FileHandle, target: string, like: Ours): Promise<Attempt> {
    const ours = await this.#prepare(target, like);
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

  /** A complete lock file under a temporary name and under the kernel's lock. */
  async #prepare(target: string, { nowMs, isPrivate, role }: Ours): Promise<Temporary> {
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

  /** A lock that the kernel does not guard must not be broken by anybody. */
  #name(locked: boolean): Identity {
    if (locked || process.platform === "win32") return this.#identity;
    return { ...this.#identity, host: `${this.#identity.host} (without kernel locks)` };
  }
}

/** Opens a lock file to look at it; nothing where none is. */
async function openLock(target: string): Promise<FileHandle | undefined> {
  try {
    const stats = await lstat(target);
    if (!stats.isFile()) throw notAFile();
    return await openToInspect(target);
  } catch (error) {
    if (is(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** What a lock file says; nothing when that is no holder. */
async function readHolder(file: FileHandle): Promise<Holder | undefined> {
  if (!(await file.stat()).isFile()) throw notAFile();
  return parse((await readAt(file, 0, LINE_BYTES)).toString("utf8"));
}

/** Removes the lock file if the open file is still what its name leads to. */
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

function notAFile(): Failure {
  return new Failure("invalid", "a lock is a regular file; something else is in its place");
}

/** Whether waiting may help. */
function mayPass({ why }: Obstacle): boolean {
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
      const rest = "if nothing runs there any more, remove the file";
      return busy(`held by ${shown(holder)} on \`${holder.host}\`; ${rest}`);
    }
    case "unreadable":
      return busy("in the way: it does not say who holds it; if nobody does, remove it");
    case "unbreakable": {
      const rest = "nothing here can take it over safely, so remove the file by hand";
      return busy(`held by ${shown(obstacle.holder)}, which is gone; ${rest}`);
    }
  }
}
