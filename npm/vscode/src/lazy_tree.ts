/** A tree whose rows come from whoever is there later. Views cannot change their provider. */

import * as vscode from "vscode";

export class LateTree<T> implements vscode.TreeDataProvider<T>, vscode.Disposable {
  readonly #open: () => Promise<unknown>;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changes.event;
  #rows: vscode.TreeDataProvider<T> | undefined;
  #heard: vscode.Disposable | undefined;

  /** `open` is called when somebody looks at the view before there are rows. */
  constructor(open: () => Promise<unknown>) {
    this.#open = open;
  }

  /** From now on the rows are these. */
  follow(rows: vscode.TreeDataProvider<T>): void {
    this.#rows = rows;
    this.#heard = rows.onDidChangeTreeData?.(() => this.#changes.fire());
    this.#changes.fire();
  }

  getChildren(row?: T): vscode.ProviderResult<T[]> {
    if (this.#rows === undefined) void this.#open();
    return this.#rows?.getChildren(row) ?? [];
  }

  getTreeItem(row: T): vscode.TreeItem | Thenable<vscode.TreeItem> {
    if (this.#rows === undefined) throw new Error("there are no rows yet");
    return this.#rows.getTreeItem(row);
  }

  dispose(): void {
    this.#heard?.dispose();
    this.#changes.dispose();
  }
}
