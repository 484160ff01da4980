/** Keeps what is shown about runs up to date, by what changes on the disk. */

import type { Core } from "onloop";
import * as vscode from "vscode";
import { logError } from "./output.js";
import { Store } from "./store.js";

/** Records change several times a step. */
const SETTLING_MS = 250;
/** Of what is made at once with its folders, only the folders may be seen. */
const RECORDS = "{**/.hotl,**/.hotl/state,**/.hotl/state/*}";

/** The runs of the window. */
export class Watcher implements vscode.Disposable {
  readonly store: Store;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changes.event;
  readonly #watched = new Map<string, vscode.Disposable>();
  #soon: ReturnType<typeof setTimeout> | undefined;
  #reading: Promise<void> | undefined;
  #again = false;

  constructor(core: Core) {
    this.store = new Store(core);
  }

  /** Looks now; whoever asks while that is going on gets what is true afterwards. */
  refresh(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  soon(): void {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => void this.refresh(), SETTLING_MS);
  }

  dispose(): void {
    clearTimeout(this.#soon);
    this.#watched.forEach((watched) => watched.dispose());
    this.#changes.dispose();
  }

  async #read(): Promise<void> {
    do {
      this.#again = false;
      const found = folders();
      try {
        await this.store.refresh(found);
      } catch (error) {
        logError("runs cannot be read", error);
      }
      for (const folder of found) this.#watch(folder, RECORDS);
      // Worktrees of their own may be anywhere.
      for (const { entry } of this.store.runs()) {
        const isInside = found.some((folder) => `${entry.run_root}/`.startsWith(`${folder}/`));
        if (!isInside) this.#watch(`${entry.run_root}/.hotl/state`, "*");
      }
      this.#changes.fire();
    } while (this.#again);
  }

  #watch(folder: string, pattern: string): void {
    if (this.#watched.has(folder)) return;
    const place = new vscode.RelativePattern(vscode.Uri.file(folder), pattern);
    const watcher = vscode.workspace.createFileSystemWatcher(place);
    const soon = (): void => this.soon();
    watcher.onDidChange(soon);
    watcher.onDidCreate(soon);
    watcher.onDidDelete(soon);
    this.#watched.set(folder, watcher);
  }
}

/** The open folders that are on a disk. */
export function folders(): string[] {
  const open = vscode.workspace.workspaceFolders ?? [];
  return open.flatMap(({ uri }) => (uri.scheme === "file" ? [uri.fsPath] : []));
}
