/** The extension in a host with Node: everything. */

import { Core } from "onloop";
import * as vscode from "vscode";
import { registerChat } from "./chat.js";
import { Commands } from "./commands.js";
import { endAll } from "./conduct.js";
import { Editor } from "./editor.js";
import { registerTools } from "./lm_tools.js";
import { load } from "./load.js";
import type { Run } from "./runs.js";
import { RunLenses, RunsTree } from "./runs_view.js";
import { Watcher, folders } from "./watcher.js";

/** What other extensions get. */
export interface Api {
  readonly core: Core;
  /** The runs of the open folders, unfinished ones first; nothing before the folder is trusted. */
  runs(): readonly Run[];
  readonly onDidChangeRuns: vscode.Event<void>;
}

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const core = await load(context, (module) => new Core(module));
  const editor = new Editor(core, context);
  const { subscriptions } = context;
  const changes = new vscode.EventEmitter<void>();
  let watcher: Watcher | undefined;
  subscriptions.push(changes, ...registerTools(core, () => watcher));
  const begin = (): void => {
    void vscode.commands.executeCommand("setContext", "onloop.canRun", folders().length > 0);
    watcher = new Watcher(core);
    subscriptions.push(watcher.onDidChange(() => changes.fire()), ...runs(core, editor, watcher));
  };
  // Before somebody trusts the folder nothing of it is run, and git is not asked either.
  if (vscode.workspace.isTrusted) begin();
  else subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(begin));
  return { core, runs: () => watcher?.store.runs() ?? [], onDidChangeRuns: changes.event };
}

/** The window goes: what runs is interrupted and can be resumed. */
export async function deactivate(): Promise<void> {
  await endAll();
}

function runs(core: Core, editor: Editor, watcher: Watcher): vscode.Disposable[] {
  const disposables = [
    watcher,
    vscode.window.registerTreeDataProvider("onloop.runs", new RunsTree(watcher)),
    vscode.languages.registerCodeLensProvider({ language: "markdown", scheme: "file" }, new RunLenses(watcher, editor)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => watcher.soon()),
    ...new Commands(core, watcher).register(),
    registerChat(core),
  ];
  void watcher.refresh();
  return disposables;
}
