/** The tree of runs, and the code lenses of workflows. */

import type { RunView } from "onloop";
import * as vscode from "vscode";
import type { Editor } from "./editor.js";
import { lenses } from "./lenses.js";
import { type Run, age, context, describe, icon, label, runsOf, waitingGate, waitsForPerson } from "./runs.js";
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
      await this.#watcher.ready();
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
  const { entry } = run;
  const readable = !["unreadable", "untrusted"].includes(entry.status);
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(label(run), !readable ? None : waitsForPerson(run) ? Expanded : Collapsed);
  item.id = entry.run_id;
  const since = age(entry.last_update, Date.now());
  item.description = [describe(run), since].filter((part) => part !== undefined).join(" · ");
  item.iconPath = themed(icon(run));
  item.contextValue = context(run, process.pid);
  item.tooltip = tooltip(run);
  if (readable) item.command = { command: "onloop.report", title: "Open Run", arguments: [entry.run_id] };
  item.accessibilityInformation = { label: `${label(run)}, ${item.description}` };
  return item;
}

function tooltip(run: Run): vscode.MarkdownString {
  const { entry } = run;
  const driver = entry.driven_by;
  const rows: [string, string | null | undefined][] = [
    ["Run", entry.run_id],
    ["Workflow", entry.source_workflow_path ?? entry.workflow_path],
    ["Branch", entry.branch],
    ["Folder", entry.execution_root],
    ["Driven by", driver == null ? undefined : driver.pid === process.pid ? "this window" : `process ${driver.pid} on ${driver.host}`],
    ["Started", entry.started_at],
    ["Changed", entry.last_update],
  ];
  const text = new vscode.MarkdownString();
  text.appendText(entry.intent ?? label(run));
  for (const [name, value] of rows) {
    if (value == null) continue;
    text.appendMarkdown(`\n\n${name}: `);
    text.appendText(value);
  }
  return text;
}

/** Icons and colors of steps. */
const STEP_ICONS: Record<Step["status"], { name: string; color?: string }> = {
  pending: { name: "circle-large-outline" },
  in_progress: { name: "play-circle", color: "charts.blue" },
  done: { name: "pass", color: "testing.iconPassed" },
  failed: { name: "error", color: "list.errorForeground" },
  blocked: { name: "error", color: "list.errorForeground" },
};

const STEP_WORDS: Record<Step["status"], string> = {
  pending: "Pending",
  in_progress: "Running",
  done: "Done",
  failed: "Failed",
  blocked: "Blocked",
};

function stepItem({ run, step }: { run: Run; step: Step }): vscode.TreeItem {
  const item = new vscode.TreeItem(`${step.number}. ${step.name}`);
  item.id = `${run.entry.run_id} ${step.number}`;
  const waits = waitingGate(run) === step.number;
  const tries = step.attempts > 1 ? `${step.attempts} attempts` : undefined;
  const status = waits ? "Waiting for you" : STEP_WORDS[step.status];
  item.description = [status, step.gate_result, tries, step.block_reason].filter((part) => part != null).join(", ");
  item.iconPath = themed(waits ? icon(run) : STEP_ICONS[step.status]);
  item.contextValue = waits ? "step worked gate" : step.attempts > 0 ? "step worked" : "step";
  item.command = waits
    ? { command: "onloop.gate", title: "Decide…", arguments: [run.entry.run_id] }
    : { command: "onloop.report", title: "Open Run", arguments: [run.entry.run_id, step.number] };
  return item;
}

function themed({ name, color }: { name: string; color?: string }): vscode.ThemeIcon {
  return new vscode.ThemeIcon(name, color === undefined ? undefined : new vscode.ThemeColor(color));
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
    const outline = this.#editor.outline(document);
    if (outline === undefined) return [];
    await this.#watcher.ready();
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
