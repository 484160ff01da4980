/** Waits for changes in folders. The operating system reports them, so nothing polls. */

import { type FSWatcher, statSync, watch } from "node:fs";
import type { Interrupts } from "./interrupts.js";
import type { Root } from "./root.js";

/** Most folders watched at once; the rest is ignored. Equal to `WATCHED_FOLDERS` in core. */
const WATCHED_FOLDERS = 2048;
/** The system reports one change as several events in a row. */
const SETTLE_MS = 20;

export class NodeChanges {
  readonly #root: Root;
  readonly #interrupts: Interrupts;
  /** The folders named last; `undefined` where a folder does not exist. */
  readonly #watched = new Map<string, FSWatcher | undefined>();
  readonly #changed = new Set<string>();
  #wake: (() => void) | undefined;
  /** Folders that may have been removed or replaced, with the inode that is watched. */
  readonly #maybeReplaced = new Map<string, number>();

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
      await this.#interrupts.pause(left, (wake) => this.onChange(wake));
      this.#interrupts.check();
    }
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    return this.take();
  }

  /** Whether something may have changed since the last call. */
  take(): boolean {
    const isChange = this.#changed.size > 0;
    this.#changed.clear();
    return isChange;
  }

  /** Calls `wake` when something changes. */
  onChange(wake: (() => void) | undefined): void {
    this.#wake = wake;
  }

  /** Watches exactly these folders from now on. A new folder counts as changed. */
  follow(folders: string[]): void {
    const wanted = new Set(folders.slice(0, WATCHED_FOLDERS).map((folder) => this.#root.resolve(folder)));
    this.#closeReplaced();
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

  /** Closes the watchers of folders that were removed or replaced. */
  #closeReplaced(): void {
    for (const [folder, inode] of this.#maybeReplaced) {
      if (inodeOf(folder) === inode) continue;
      this.#watched.get(folder)?.close();
      if (this.#watched.has(folder)) this.#watched.set(folder, undefined);
    }
    this.#maybeReplaced.clear();
  }

  #listen(folder: string): FSWatcher | undefined {
    try {
      const inode = inodeOf(folder) ?? 0;
      const watcher = watch(folder, { persistent: false }, (event) => {
        if (event === "rename") this.#maybeReplaced.set(folder, inode);
        this.#notice(folder);
      });
      watcher.on("error", () => this.#onError(folder, watcher));
      return watcher;
    } catch {
      // The folder is missing or the system has no watches left. The caller reads again after its wait.
      return undefined;
    }
  }

  #onError(folder: string, watcher: FSWatcher): void {
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
