/** Workflows as tasks of the editor: `{ "type": "onloop", "workflow": "hotl-workflow-add.md" }`. */

import { isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import { EXIT, type Ended } from "./ended.js";
import type { Performer } from "./performer.js";
import { agentWords, perform } from "./runner.js";
import { workflowName } from "./runs.js";
import { problems } from "./task_problems.js";

const TYPE = "onloop";
/** Where workflows are offered from, and what they are called there. */
const PLACES: [folder: string, name: RegExp][] = [
  ["", /^hotl-workflow.*\.md$|-workflow\.md$/],
  ["docs/plans", /-workflow\.md$/],
  [".ai/workflows", /\.md$/],
];
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
    const open = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
    const found = await Promise.all(open.flatMap((folder) => PLACES.map((place) => this.#below(folder, place))));
    return found.flat();
  }

  async #below(folder: vscode.WorkspaceFolder, [below, name]: (typeof PLACES)[number]): Promise<vscode.Task[]> {
    const uri = vscode.Uri.joinPath(folder.uri, below);
    const entries = await vscode.workspace.fs.readDirectory(uri).then((entries) => entries, () => []);
    const files = entries.filter(([entry, type]) => type === vscode.FileType.File && name.test(entry));
    return files.map(([file]) => this.#task({ type: TYPE, workflow: below === "" ? file : `${below}/${file}` }, folder));
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
