/** Noticing changes in folders: the operating system tells of them, nothing is looked at again and again. */

import { type FSWatcher, statSync, watch } from "node:fs";
import type { Interrupts } from "./interrupts.js";
import type { Root } from "./root.js";

/** Most folders at once; of more the first count. As `WATCHED_FOLDERS` in core. */
const WATCHED_FOLDERS = 2048;
/** One change makes several notices, which come one after another. */
const SETTLE_MS = 20;

export class NodeChanges {
  readonly #root: Root;
  readonly #interrupts: Interrupts;
  /** Every folder that was named last; undefined: it is not there. */
  readonly #watched = new Map<string, FSWatcher | undefined>();
  readonly #changed = new Set<string>();
  #wake: (() => void) | undefined;
  /** Folders that may have been removed, or replaced by others of their name. */
  readonly #suspects = new Map<string, number>();

  constructor(root: Root, interrupts: Interrupts) {
    this.#root = root;
    this.#interrupts = interrupts;
  }

  async changes(folders: string[], waitMs: number): Promise<boolean> {
    this.#interrupts.check();
    this.follow(folders);
    const end = performance.now() + waitMs;
    while (this.#changed.size === 0) {
      const left = end - performance.now();
      if (left <= 0) return false;
      await this.#interrupts.pause(left, (wake) => this.hear(wake));
      this.#interrupts.check();
    }
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return this.take();
  }

  /** Whether something may have changed since it was asked last. */
  take(): boolean {
    const isChange = this.#changed.size > 0;
    this.#changed.clear();
    return isChange;
  }

  /** Calls `wake` when something changes. */
  hear(wake: (() => void) | undefined): void {
    this.#wake = wake;
  }

  /** Listens to these folders from now on, and to no other; a new one counts as changed. */
  follow(folders: string[]): void {
    const wanted = new Set(folders.slice(0, WATCHED_FOLDERS).map((folder) => this.#root.resolve(folder)));
    this.#drop();
    for (const [folder, watcher] of this.#watched) {
      if (wanted.has(folder)) continue;
      watcher?.close();
      this.#watched.delete(folder);
      this.#changed.delete(folder);
    }
    for (const folder of wanted) {
      if (this.#watched.get(folder) !== undefined) continue;
      const watcher = this.#listen(folder);
      if (watcher !== undefined || !this.#watched.has(folder)) this.#notice(folder);
      this.#watched.set(folder, watcher);
    }
  }

  /** Stops listening to folders that are not at their path any more. */
  #drop(): void {
    for (const [folder, inode] of this.#suspects) {
      if (inodeOf(folder) === inode) continue;
      this.#watched.get(folder)?.close();
      if (this.#watched.has(folder)) this.#watched.set(folder, undefined);
    }
    this.#suspects.clear();
  }

  #listen(folder: string): FSWatcher | undefined {
    try {
      const inode = inodeOf(folder) ?? 0;
      const watcher = watch(folder, { persistent: false }, (event) => {
        if (event === "rename") this.#suspects.set(folder, inode);
        this.#notice(folder);
      });
      watcher.on("error", () => this.#lose(folder, watcher));
      return watcher;
    } catch {
      // It is not there, or too much is listened to: the caller looks again when its time is over.
      return undefined;
    }
  }

  #lose(folder: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watched.get(folder) === watcher) this.#watched.set(folder, undefined);
    this.#notice(folder);
  }

  #notice(folder: string): void {
    this.#changed.add(folder);
    this.#wake?.();
  }
}

function inodeOf(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.ino;
}
