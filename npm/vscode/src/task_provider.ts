/** Workflows as tasks of the editor: `{ "type": "onloop", "workflow": "hotl-workflow-add.md" }`. */

import { isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import { EXIT, type ProgramResult } from "./program_result.js";
import type { CommandRunner } from "./command_runner.js";
import { agentWords, perform } from "./terminal.js";
import { workflowName } from "./runs.js";
import { problems } from "./task_problems.js";

const TYPE = "onloop";
/** The folders of workflows, and the names of their files. */
const FOLDERS: [folder: string, name: RegExp][] = [
  ["", /^hotl-workflow.*\.md$|-workflow\.md$/],
  ["docs/plans", /-workflow\.md$/],
  [".ai/workflows", /\.md$/],
];
/** For failed steps, and for findings in the workflow file. */
const MATCHERS = ["$onloop", "$onloop-lint"];

interface Definition extends vscode.TaskDefinition {
  /** Relative to the folder of the workspace. */
  workflow: string;
  /** Further arguments of the command line. */
  args?: string[];
}

export class WorkflowTasks implements vscode.TaskProvider {
  readonly #runner: CommandRunner;

  constructor(runner: CommandRunner) {
    this.#runner = runner;
  }

  register(): vscode.Disposable {
    return vscode.tasks.registerTaskProvider(TYPE, this);
  }

  async provideTasks(): Promise<vscode.Task[]> {
    const open = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
    const found = await Promise.all(open.flatMap((folder) => FOLDERS.map((place) => this.#tasksIn(folder, place))));
    return found.flat();
  }

  async #tasksIn(folder: vscode.WorkspaceFolder, [subfolder, name]: (typeof FOLDERS)[number]): Promise<vscode.Task[]> {
    const uri = vscode.Uri.joinPath(folder.uri, subfolder);
    const entries = await vscode.workspace.fs.readDirectory(uri).then((entries) => entries, () => []);
    const files = entries.filter(([entry, type]) => type === vscode.FileType.File && name.test(entry));
    return files.map(([file]) => this.#task({ type: TYPE, workflow: subfolder === "" ? file : `${subfolder}/${file}` }, folder));
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
      const { core, watcher } = this.#runner;
      const listener = { note: () => watcher.soon() };
      return perform(core, { folder: fsPath, argv, listener }, (ended) => this.#problems(fsPath, definition.workflow, ended));
    });
    const task = new vscode.Task(definition, folder, workflowName(definition.workflow), TYPE, execution, MATCHERS);
    task.detail = definition.workflow;
    return task;
  }

  /** The problems of an ended run, as lines for the problem matcher. */
  async #problems(folder: string, workflow: string, { exit, runId }: ProgramResult): Promise<string> {
    if (exit === EXIT.done || runId === undefined) return "";
    const { watcher, core } = this.#runner;
    await watcher.refresh();
    const found = watcher.store.find(runId);
    const view = found && (await watcher.store.view(found.run));
    if (view === undefined) return "";
    const file = isAbsolute(workflow) ? workflow : join(folder, workflow);
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.file(file));
    return problems(core, file, new TextDecoder().decode(bytes), view);
  }
}
