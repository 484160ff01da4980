/** The tree of runs, and what stands above the lines of workflows. */

import type { RunView } from "onloop";
import * as vscode from "vscode";
import type { Editor } from "./editor.js";
import { lenses } from "./lenses.js";
import { type Run, context, describe, icon, runsOf } from "./runs.js";
import type { Watcher } from "./watcher.js";

type Step = RunView["steps"][number];

/** A row of the tree. */
export type Row = { run: Run } | { run: Run; step: Step };

export class RunsTree implements vscode.TreeDataProvider<Row> {
  readonly #watcher: Watcher;
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
    this.onDidChangeTreeData = watcher.onDidChange;
  }

  async getChildren(row?: Row): Promise<Row[]> {
    if (row === undefined) {
      await this.#watcher.looked();
      return this.#watcher.store.runs().map((run) => ({ run }));
    }
    if ("step" in row) return [];
    const view = await this.#watcher.store.view(row.run);
    return (view?.steps ?? []).map((step) => ({ run: row.run, step }));
  }

  getTreeItem(row: Row): vscode.TreeItem {
    return "step" in row ? stepItem(row) : runItem(row.run);
  }
}

function runItem(run: Run): vscode.TreeItem {
  const readable = run.entry.status !== "unreadable";
  const { None, Collapsed } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(run.entry.run_id, readable ? Collapsed : None);
  item.id = run.entry.run_id;
  item.description = describe(run);
  item.iconPath = new vscode.ThemeIcon(icon(run));
  item.contextValue = context(run);
  item.tooltip = [run.entry.workflow_path, run.entry.branch, run.entry.execution_root, run.entry.last_update]
    .filter((part) => part != null)
    .join("\n");
  return item;
}

function stepItem({ run, step }: { run: Run; step: Step }): vscode.TreeItem {
  const icons = { pending: "circle-outline", in_progress: "sync", done: "pass", failed: "error", blocked: "error" };
  const item = new vscode.TreeItem(`${step.number}. ${step.name}`);
  item.id = `${run.entry.run_id} ${step.number}`;
  const tries = step.attempts > 1 ? `${step.attempts} attempts` : undefined;
  item.description = [step.status.replace("_", " "), step.gate_result, tries, step.block_reason].filter((part) => part != null).join(", ");
  item.iconPath = new vscode.ThemeIcon(icons[step.status]);
  item.contextValue = "step";
  item.command = { command: "onloop.report", title: "Open Report", arguments: [run.entry.run_id] };
  return item;
}

export class RunLenses implements vscode.CodeLensProvider {
  readonly #watcher: Watcher;
  readonly #editor: Editor;
  readonly onDidChangeCodeLenses: vscode.Event<void>;

  constructor(watcher: Watcher, editor: Editor) {
    this.#watcher = watcher;
    this.#editor = editor;
    this.onDidChangeCodeLenses = watcher.onDidChange;
  }

  async provideCodeLenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
    const outline = await this.#editor.outline(document);
    if (outline === undefined) return [];
    await this.#watcher.looked();
    const file = document.uri.fsPath;
    const runs = runsOf(this.#watcher.store.runs(), file);
    const view = runs[0] && (await this.#watcher.store.view(runs[0]));
    return lenses(outline, file, runs, view).map((lens) => {
      const position = document.positionAt(lens.offset);
      const { title, command } = lens;
      return new vscode.CodeLens(new vscode.Range(position, position), { title, command, arguments: lens.arguments });
    });
  }
}
