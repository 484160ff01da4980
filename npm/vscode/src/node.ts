/** The extension in a host with Node: everything. */

import { Core } from "onloop";
import * as vscode from "vscode";
import { registerChat } from "./chat.js";
import { Commands } from "./commands.js";
import { type Programs, endAll } from "./conduct.js";
import { Editor } from "./editor.js";
import { registerTools } from "./lm_tools.js";
import { whenNeeded } from "./load.js";
import type { Run } from "./runs.js";
import { RunLenses, RunsTree } from "./runs_view.js";
import { Watcher, folders } from "./watcher.js";

/** What other extensions get. */
export interface Api {
  /** The core, loaded by whoever asks first. */
  core(): Promise<Core>;
  /** The runs of the open folders, unfinished ones first; nothing before the folder is trusted. */
  runs(): readonly Run[];
  readonly onDidChangeRuns: vscode.Event<void>;
}

export function activate(context: vscode.ExtensionContext): Api {
  const core = whenNeeded(context, (module) => new Core(module));
  const programs: Programs = { run: async (start, host) => (await core()).run(start, host) };
  const editor = new Editor(core, context);
  const { subscriptions } = context;
  const changes = new vscode.EventEmitter<void>();
  let watcher: Watcher | undefined;
  subscriptions.push(changes, ...registerTools(programs, () => watcher));
  const begin = (): void => {
    void vscode.commands.executeCommand("setContext", "onloop.canRun", folders().length > 0);
    watcher = new Watcher(programs);
    subscriptions.push(watcher.onDidChange(() => changes.fire()), ...runs(programs, editor, watcher));
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

function runs(programs: Programs, editor: Editor, watcher: Watcher): vscode.Disposable[] {
  const disposables = [
    watcher,
    vscode.window.registerTreeDataProvider("onloop.runs", new RunsTree(watcher)),
    vscode.languages.registerCodeLensProvider({ language: "markdown", scheme: "file" }, new RunLenses(watcher, editor)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => watcher.soon()),
    ...new Commands(programs, watcher).register(),
    registerChat(programs),
  ];
  watcher.begin();
  return disposables;
}
