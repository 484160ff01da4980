/** Reads the runs again when their files change. */

import * as vscode from "vscode";
import type { Programs } from "./run_program.js";
import { logError } from "./output.js";
import type { Run } from "./runs.js";
import { Store } from "./store.js";

/** The delay of a read after a change, because a record changes several times in each step. */
const SETTLING_MS = 250;
/** The folders as well, because the editor may report only new folders and not the files in them. */
const RECORDS = "{**/.hotl,**/.hotl/state,**/.hotl/state/*}";

/** The runs of the window. */
export class Watcher implements vscode.Disposable {
  readonly store: Store;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changes.event;
  readonly #watched = new Map<string, vscode.Disposable>();
  #soon: ReturnType<typeof setTimeout> | undefined;
  #reading: Promise<void> | undefined;
  #firstRead: Promise<void> | undefined;
  #again = false;
  #isDisposed = false;

  constructor(core: Programs) {
    this.store = new Store(core);
  }

  /** Starts watching, and reads the runs if a folder has records. */
  begin(): void {
    this.#watchFolders();
    for (const folder of folders()) {
      const records = vscode.Uri.joinPath(vscode.Uri.file(folder), ".hotl", "state");
      vscode.workspace.fs.stat(records).then(
        () => this.ready(),
        () => undefined,
      );
    }
  }

  /** Reads the runs unless they were read before. */
  ready(): Promise<void> {
    this.#firstRead ??= this.refresh();
    return this.#firstRead;
  }

  /** Reads the runs. A call during a read causes one more, and waits for it. */
  refresh(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => (this.#reading = undefined));
    this.#firstRead ??= this.#reading;
    return this.#reading;
  }

  soon(): void {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => void this.refresh(), SETTLING_MS);
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#soon);
    this.#watched.forEach((watched) => watched.dispose());
    this.#changes.dispose();
  }

  async #read(): Promise<void> {
    do {
      this.#again = false;
      this.#watchFolders();
      const found = folders();
      try {
        await this.store.refresh(found);
      } catch (error) {
        logError("runs cannot be read", error);
      }
      // Worktrees may be outside the open folders.
      const isInside = ({ entry }: Run): boolean => found.some((folder) => `${entry.run_root}/`.startsWith(`${folder}/`));
      const outside = this.store.runs().filter((run) => !isInside(run));
      const places = outside.map(({ entry }) => `${entry.run_root}/.hotl/state`);
      for (const place of places) this.#watch(place, "*");
      this.#unwatchOthers([...found, ...places]);
      this.#changes.fire();
    } while (this.#again);
  }

  #watchFolders(): void {
    for (const folder of folders()) this.#watch(folder, RECORDS);
  }

  /** Stops watching folders that are closed and have no runs. */
  #unwatchOthers(places: string[]): void {
    for (const [place, watched] of this.#watched) {
      if (places.includes(place)) continue;
      watched.dispose();
      this.#watched.delete(place);
    }
  }

  #watch(folder: string, pattern: string): void {
    // A read may end after `dispose`.
    if (this.#isDisposed || this.#watched.has(folder)) return;
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
