/** Keeps what is shown about runs up to date, by what changes on the disk. */

import * as vscode from "vscode";
import type { Programs } from "./conduct.js";
import { logError } from "./output.js";
import type { Run } from "./runs.js";
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
  #looked: Promise<void> | undefined;
  #again = false;
  #isDisposed = false;

  constructor(core: Programs) {
    this.store = new Store(core);
  }

  /** Notices changes from now on, and looks where there are records. */
  begin(): void {
    this.#watchFolders();
    for (const folder of folders()) {
      const records = vscode.Uri.joinPath(vscode.Uri.file(folder), ".hotl", "state");
      vscode.workspace.fs.stat(records).then(
        () => this.looked(),
        () => undefined,
      );
    }
  }

  /** Resolves when somebody has looked; looks where nobody has. */
  looked(): Promise<void> {
    this.#looked ??= this.refresh();
    return this.#looked;
  }

  /** Looks now; whoever asks while that is going on gets what is true afterwards. */
  refresh(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#again = true;
      return this.#reading;
    }
    this.#reading = this.#read().finally(() => (this.#reading = undefined));
    this.#looked ??= this.#reading;
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
      // Worktrees of their own may be anywhere.
      const isInside = ({ entry }: Run): boolean => found.some((folder) => `${entry.run_root}/`.startsWith(`${folder}/`));
      const elsewhere = this.store.runs().filter((run) => !isInside(run));
      const places = elsewhere.map(({ entry }) => `${entry.run_root}/.hotl/state`);
      for (const place of places) this.#watch(place, "*");
      this.#forgetOthers([...found, ...places]);
      this.#changes.fire();
    } while (this.#again);
  }

  #watchFolders(): void {
    for (const folder of folders()) this.#watch(folder, RECORDS);
  }

  /** Nothing happens any more where no folder is open and no run works. */
  #forgetOthers(places: string[]): void {
    for (const [place, watched] of this.#watched) {
      if (places.includes(place)) continue;
      watched.dispose();
      this.#watched.delete(place);
    }
  }

  #watch(folder: string, pattern: string): void {
    // What was being read when the window went ends here.
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
