/** Entry point in a host with Node, with all features. */

import { Core } from "onloop";
import * as vscode from "vscode";
import { Attention, decide } from "./attention.js";
import { registerChanges } from "./changes.js";
import { registerChat } from "./chat.js";
import { Commands } from "./commands.js";
import { endAll } from "./run_program.js";
import { type Activated, ActivationTriggers } from "./activation.js";
import { Editor } from "./editor.js";
import { GateCommands } from "./gate_commands.js";
import { LazyTree } from "./lazy_tree.js";
import { load } from "./load.js";
import { registerMcpServer } from "./mcp_server.js";
import { registerNewWorkflow } from "./new_workflow.js";
import { registerOutput } from "./output.js";
import { CommandRunner } from "./command_runner.js";
import { addToTerminalPath } from "./terminal_path.js";
import { RunCommands } from "./run_commands.js";
import { PAGE, RunViews } from "./run_views.js";
import type { Run } from "./runs.js";
import { type Row, RunLenses, RunsTree } from "./runs_view.js";
import { BoardWatcher, SessionsTree, WaitingTree, registerSessionCommands } from "./sessions_view.js";
import { hasOnloopFiles } from "./startup.js";
import { WorkflowTasks } from "./task_provider.js";
import { TasksTree } from "./tasks_view.js";
import { TestExplorer } from "./test_explorer.js";
import type { Waiting } from "./waiting.js";
import { Watcher, folders } from "./watcher.js";

/** The API for other extensions. */
export interface Api {
  /** Loads the core on first use. */
  core(): Promise<Core>;
  /** The runs of the open folders, unfinished ones first; empty in an untrusted folder. */
  runs(): readonly Run[];
  readonly onDidChangeRuns: vscode.Event<void>;
}

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const { subscriptions } = context;
  const changes = new vscode.EventEmitter<void>();
  const core = once(() => load(context, (module) => new Core(module)));
  let watcher: Watcher | undefined;
  let pages: RunViews | undefined;
  // onloop runs nothing in an untrusted folder, not even git.
  const trusted = (loaded: Core, editor: Editor): Activated => {
    void vscode.commands.executeCommand("setContext", "onloop.canRun", folders().length > 0);
    void addToTerminalPath(context);
    watcher = new Watcher(loaded);
    const { disposables, tasks } = runs(loaded, editor, watcher, views);
    pages = new RunViews(context, loaded, watcher);
    subscriptions.push(watcher.onDidChange(() => changes.fire()), ...disposables, ...pages.register());
    return { tasks };
  };
  const open = once(async (): Promise<Activated> => {
    const loaded = await core();
    triggers.dispose();
    const editor = new Editor(loaded, context);
    if (vscode.workspace.isTrusted) return trusted(loaded, editor);
    subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(() => void trusted(loaded, editor)));
    return { tasks: undefined };
  });
  const views = new Views(open);
  const triggers = new ActivationTriggers(open, commandsOf(context));
  // A page of the last window may need the extension where nothing else does.
  const restored = vscode.window.registerWebviewPanelSerializer(PAGE, {
    async deserializeWebviewPanel(panel, saved) {
      await open();
      if (pages === undefined) panel.dispose();
      else pages.restore(panel, saved);
    },
  });
  subscriptions.push(changes, triggers, views, restored, registerMcpServer(context), registerChat(core));
  const canRun = vscode.workspace.isTrusted && folders().length > 0;
  void vscode.commands.executeCommand("setContext", "onloop.canRun", canRun);
  if (await isNeeded()) await open();
  return { core, runs: () => watcher?.store.runs() ?? [], onDidChangeRuns: changes.event };
}

async function isNeeded(): Promise<boolean> {
  if (vscode.workspace.textDocuments.some(({ languageId }) => languageId === "markdown")) return true;
  if (!vscode.workspace.isTrusted) return false;
  return (await Promise.all(folders().map((folder) => hasOnloopFiles(folder, process.env)))).includes(true);
}

function commandsOf({ extension }: vscode.ExtensionContext): string[] {
  const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
  return contributes.commands.map(({ command }) => command);
}

/** Calls `act` once and returns its result every time. After a failure the next call tries again. */
function once<T>(act: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () =>
    (answer ??= act().catch((error: unknown) => {
      answer = undefined;
      throw error;
    }));
}

/** Interrupts running programs, which can be resumed. */
export async function deactivate(): Promise<void> {
  await endAll();
}

/** The views that exist before the core is loaded. */
class Views implements vscode.Disposable {
  readonly runs: LazyTree<Row>;
  readonly waiting: LazyTree<Waiting>;
  readonly asking: vscode.TreeView<Waiting>;
  readonly #runsView: vscode.TreeView<Row>;

  constructor(open: () => Promise<unknown>) {
    this.runs = new LazyTree(open);
    this.waiting = new LazyTree(open);
    const { createTreeView } = vscode.window;
    this.#runsView = createTreeView("onloop.runs", { treeDataProvider: this.runs, showCollapseAll: true });
    this.asking = createTreeView("onloop.waiting", { treeDataProvider: this.waiting });
  }

  dispose(): void {
    for (const one of [this.runs, this.waiting, this.asking, this.#runsView]) one.dispose();
  }
}

function runs(
  core: Core,
  editor: Editor,
  watcher: Watcher,
  views: Views,
): { disposables: vscode.Disposable[]; tasks: WorkflowTasks } {
  const runner = new CommandRunner(core, watcher);
  const board = new BoardWatcher(core, watcher);
  const tasks = new TasksTree(core);
  const all = new WaitingTree(board, watcher);
  views.runs.follow(new RunsTree(watcher));
  views.waiting.follow(all);
  const attention = new Attention(views.asking);
  const workflows = new WorkflowTasks(runner);
  const disposables = [
    watcher,
    board,
    tasks,
    all,
    attention,
    new TestExplorer(watcher),
    all.onDidChangeTreeData(() => attention.show(all.getChildren(), board.isRead)),
    vscode.window.registerTreeDataProvider("onloop.sessions", new SessionsTree(board)),
    vscode.window.registerTreeDataProvider("onloop.tasks", tasks),
    vscode.languages.registerCodeLensProvider({ language: "markdown", scheme: "file" }, new RunLenses(watcher, editor)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      watcher.soon();
      void tasks.refresh();
    }),
    vscode.commands.registerCommand("onloop.decide", () => decide(all.getChildren())),
    ...new Commands(runner).register(),
    ...new GateCommands(runner).register(),
    ...new RunCommands(runner).register(),
    ...registerChanges(runner),
    ...registerSessionCommands(runner, board),
    registerNewWorkflow(runner),
    workflows.register(),
    registerOutput(),
  ];
  void tasks.refresh();
  void watcher.refresh();
  return { disposables, tasks: workflows };
}
