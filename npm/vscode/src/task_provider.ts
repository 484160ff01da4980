/** Workflows as tasks of the editor: `{ "type": "onloop", "workflow": "hotl-workflow-add.md" }`. */

import { isAbsolute, join, relative } from "node:path";
import * as vscode from "vscode";
import { EXIT, type Ended } from "./ended.js";
import type { Performer } from "./performer.js";
import { agentWords, perform } from "./runner.js";
import { workflowName } from "./runs.js";
import { problems } from "./task_problems.js";

const TYPE = "onloop";
const WORKFLOWS = "**/{hotl-workflow*,*-workflow,.ai/workflows/*}.md";
const ASIDE = "**/{node_modules,.hotl,.hotl-worktrees}/**";
/** Most workflows that are offered. */
const OFFERED = 200;
/** Beside errors, those of the workflow file itself. */
const MATCHERS = ["$onloop", "$onloop-lint"];

interface Definition extends vscode.TaskDefinition {
  /** Relative to the folder of the workspace. */
  workflow: string;
  /** Further words of the command line. */
  args?: string[];
}

export class WorkflowTasks implements vscode.TaskProvider {
  readonly #performer: Performer;

  constructor(performer: Performer) {
    this.#performer = performer;
  }

  register(): vscode.Disposable {
    return vscode.tasks.registerTaskProvider(TYPE, this);
  }

  async provideTasks(): Promise<vscode.Task[]> {
    const files = await vscode.workspace.findFiles(WORKFLOWS, ASIDE, OFFERED);
    return files.flatMap((file) => {
      const folder = vscode.workspace.getWorkspaceFolder(file);
      if (folder?.uri.scheme !== "file") return [];
      return [this.#task({ type: TYPE, workflow: relative(folder.uri.fsPath, file.fsPath) }, folder)];
    });
  }

  resolveTask(task: vscode.Task): vscode.Task | undefined {
    const definition = task.definition as Definition;
    const scope = task.scope;
    const folder = typeof scope === "object" ? scope : vscode.workspace.workspaceFolders?.[0];
    if (typeof definition.workflow !== "string" || folder === undefined) return undefined;
    return this.#task(definition, folder);
  }

  #task(definition: Definition, folder: vscode.WorkspaceFolder): vscode.Task {
    const { fsPath } = folder.uri;
    const words = (definition.args ?? []).filter((word) => typeof word === "string");
    const file = definition.workflow.startsWith("-") ? `./${definition.workflow}` : definition.workflow;
    const argv = ["run", file, ...words, ...(words.some((word) => word.startsWith("--agent")) ? [] : agentWords())];
    const execution = new vscode.CustomExecution(async () => {
      const { core, watcher } = this.#performer;
      const listener = { note: () => watcher.soon() };
      return perform(core, { folder: fsPath, argv, listener }, (ended) => this.#problems(fsPath, definition.workflow, ended));
    });
    const task = new vscode.Task(definition, folder, workflowName(definition.workflow), TYPE, execution, MATCHERS);
    task.detail = definition.workflow;
    return task;
  }

  /** What is wrong at the end of a run, as lines that the editor puts into its list of problems. */
  async #problems(folder: string, workflow: string, { exit, runId }: Ended): Promise<string> {
    if (exit === EXIT.done || runId === undefined) return "";
    const { watcher, core } = this.#performer;
    await watcher.refresh();
    const found = watcher.store.find(runId);
    const view = found && (await watcher.store.view(found.run));
    if (view === undefined) return "";
    const file = isAbsolute(workflow) ? workflow : join(folder, workflow);
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.file(file));
    return problems(core, file, new TextDecoder().decode(bytes), view);
  }
}
