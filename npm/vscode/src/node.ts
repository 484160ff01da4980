/** The extension in a host with Node: everything. */

import { Core } from "onloop";
import * as vscode from "vscode";
import { registerChat } from "./chat.js";
import { Commands } from "./commands.js";
import { endAll } from "./conduct.js";
import { Editor } from "./editor.js";
import { registerTools } from "./lm_tools.js";
import { load } from "./load.js";
import { RunLenses, RunsTree } from "./runs_view.js";
import { Watcher, folders } from "./watcher.js";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const core = await load(context, (module) => new Core(module));
  const editor = new Editor(core, context);
  const { subscriptions } = context;
  const begin = (): void => {
    void vscode.commands.executeCommand("setContext", "onloop.canRun", folders().length > 0);
    subscriptions.push(...runs(core, editor));
  };
  // Before somebody trusts the folder nothing of it is run, and git is not asked either.
  if (vscode.workspace.isTrusted) begin();
  else subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(begin));
}

/** The window goes: what runs is interrupted and can be resumed. */
export async function deactivate(): Promise<void> {
  await endAll();
}

function runs(core: Core, editor: Editor): vscode.Disposable[] {
  const watcher = new Watcher(core);
  const disposables = [
    watcher,
    vscode.window.registerTreeDataProvider("onloop.runs", new RunsTree(watcher)),
    vscode.languages.registerCodeLensProvider({ language: "markdown", scheme: "file" }, new RunLenses(watcher, editor)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => watcher.soon()),
    ...new Commands(core, watcher).register(),
    ...registerTools(core, watcher),
    registerChat(core),
  ];
  void watcher.refresh();
  return disposables;
}
