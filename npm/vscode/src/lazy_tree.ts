/** A tree that gets its provider later, because a view cannot change its provider. */

import * as vscode from "vscode";

export class LazyTree<T> implements vscode.TreeDataProvider<T>, vscode.Disposable {
  readonly #open: () => Promise<unknown>;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changes.event;
  #rows: vscode.TreeDataProvider<T> | undefined;
  #subscription: vscode.Disposable | undefined;

  /** Calls `open` when the view is shown before it has a provider. */
  constructor(open: () => Promise<unknown>) {
    this.#open = open;
  }

  /** Sets the provider. */
  follow(rows: vscode.TreeDataProvider<T>): void {
    this.#rows = rows;
    this.#subscription = rows.onDidChangeTreeData?.(() => this.#changes.fire());
    this.#changes.fire();
  }

  getChildren(row?: T): vscode.ProviderResult<T[]> {
    if (this.#rows === undefined) void this.#open();
    return this.#rows?.getChildren(row) ?? [];
  }

  getTreeItem(row: T): vscode.TreeItem | Thenable<vscode.TreeItem> {
    if (this.#rows === undefined) throw new Error("the tree has no rows yet");
    return this.#rows.getTreeItem(row);
  }

  dispose(): void {
    this.#subscription?.dispose();
    this.#changes.dispose();
  }
}
