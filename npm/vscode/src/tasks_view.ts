/** The tree of rw-auto tasks, from the table of `.ai/PROGRESS.md`. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Core, Task } from "onloop";
import * as vscode from "vscode";
import { folders } from "./watcher.js";

const PROGRESS = ".ai/PROGRESS.md";

interface Row {
  folder: string;
  task: Task;
  /** Unique, although a table may have a task twice. */
  key: string;
  isNext: boolean;
}

export class TasksTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  readonly #core: Core;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changes.event;
  readonly #files: vscode.FileSystemWatcher;
  #rows: Row[] = [];

  constructor(core: Core) {
    this.#core = core;
    this.#files = vscode.workspace.createFileSystemWatcher(`**/${PROGRESS}`);
    const read = (): void => void this.refresh();
    this.#files.onDidChange(read);
    this.#files.onDidCreate(read);
    this.#files.onDidDelete(read);
  }

  async refresh(): Promise<void> {
    this.#rows = (await Promise.all(folders().map((folder) => this.#read(folder)))).flat();
    void vscode.commands.executeCommand("setContext", "onloop.hasTasks", this.#rows.length > 0);
    this.#changes.fire();
  }

  getChildren(row?: Row): Row[] {
    return row === undefined ? this.#rows : [];
  }

  getTreeItem({ folder, task, key, isNext }: Row): vscode.TreeItem {
    const item = new vscode.TreeItem(`${task.id} ${task.title}`.trim());
    item.id = key;
    const place = folders().length > 1 ? vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder))?.name : undefined;
    item.description = [task.status, isNext ? "next" : undefined, place].filter((part) => part !== undefined).join(" · ");
    item.iconPath = symbol(task.status);
    item.contextValue = "task";
    const uri = vscode.Uri.file(join(folder, PROGRESS));
    item.command = { command: "vscode.open", title: "Open the Table of Tasks", arguments: [uri] };
    return item;
  }

  dispose(): void {
    this.#files.dispose();
    this.#changes.dispose();
  }

  async #read(folder: string): Promise<Row[]> {
    let text: string;
    try {
      text = await readFile(join(folder, PROGRESS), "utf8");
    } catch {
      return [];
    }
    const { rows, next } = this.#core.readProgress(text);
    const first = rows.findIndex(({ id }) => id === next?.id);
    return rows.map((task, at) => ({ folder, task, key: `${folder} ${at} ${task.id}`, isNext: at === first }));
  }
}

function symbol(status: string): vscode.ThemeIcon {
  const color = (name: string): vscode.ThemeColor => new vscode.ThemeColor(name);
  switch (status) {
    case "completed":
      return new vscode.ThemeIcon("pass-filled", color("testing.iconPassed"));
    case "in-progress":
      return new vscode.ThemeIcon("play-circle", color("charts.blue"));
    case "blocked":
      return new vscode.ThemeIcon("error", color("list.errorForeground"));
    case "pending":
      return new vscode.ThemeIcon("circle-large-outline");
    default:
      return new vscode.ThemeIcon("question");
  }
}
