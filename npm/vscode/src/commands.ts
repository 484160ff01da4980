/** What people do with workflows: run them, go on, and let planner and loop work. */

import { relative } from "node:path";
import * as vscode from "vscode";
import { type About, choice, choose } from "./chosen.js";
import type { Performer } from "./performer.js";
import { agentWords } from "./runner.js";
import { type Run, isOver, isResumable, label, runsOf, workflowName } from "./runs.js";
import { folders } from "./watcher.js";

export class Commands {
  readonly #performer: Performer;

  constructor(performer: Performer) {
    this.#performer = performer;
  }

  register(): vscode.Disposable[] {
    const command = (name: string, act: (about: About) => Promise<unknown>): vscode.Disposable =>
      vscode.commands.registerCommand(`onloop.${name}`, act);
    return [
      command("run", (about) => this.#run(about)),
      command("resume", (about) => this.#resume(about)),
      command("auto", (about) => this.#auto(about)),
      command("refresh", () => this.#performer.watcher.refresh()),
    ];
  }

  async #run(about: About): Promise<number | undefined> {
    const file = typeof about === "string" ? about : fileOf(about instanceof vscode.Uri ? about : activeUri());
    const folder = file === undefined ? undefined : folderOf(file);
    if (file === undefined || folder === undefined) {
      void vscode.window.showErrorMessage("Open a workflow file in a folder of this window first.");
      return undefined;
    }
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === file);
    // What is run is what is on the disk.
    if (document?.isDirty && !(await document.save())) return undefined;
    const { watcher } = this.#performer;
    await watcher.refresh();
    const words = await anewOrOn(runsOf(watcher.store.runs(), file));
    if (words === undefined) return undefined;
    const argv = words.length > 0 && words[0] === "resume" ? words : ["run", below(folder, file), ...words];
    return this.#performer.drive(folder, workflowName(file), [...argv, ...agentWords()]);
  }

  async #resume(about: About): Promise<number | undefined> {
    const found = await choose(this.#performer.watcher, about, isResumable, "Resume which run?");
    if (found === undefined) return undefined;
    const { run: chosen, folder } = found;
    if (chosen.entry.driven_by != null) {
      void vscode.window.showInformationMessage(`${label(chosen)} is being worked on.`);
      return undefined;
    }
    const more = await this.#answerTo(chosen, folder);
    if (more === undefined) return undefined;
    const argv = ["resume", chosen.entry.run_id, ...more, ...agentWords()];
    return this.#performer.drive(folder, label(chosen), argv);
  }

  #answerTo(run: Run, folder: string): Promise<string[] | undefined> {
    return answerTo(run, async () => {
      const { result } = await this.#performer.look(folder, ["next", "--run-id", run.entry.run_id]);
      return result;
    });
  }

  async #auto(about: About): Promise<number | undefined> {
    const folder = folders()[0];
    if (folder === undefined) return undefined;
    const asked = { title: "rw-auto", prompt: "What to build, in words; empty: go on with the tasks that are there" };
    const summary = typeof about === "string" ? about : await vscode.window.showInputBox(asked);
    if (summary === undefined) return undefined;
    return this.#performer.drive(folder, "rw-auto", ["auto", ...agentWords(), ...(summary === "" ? [] : ["--", summary])]);
  }
}

/** What to do about an unfinished run of the same file; undefined: nothing at all. */
async function anewOrOn(runs: Run[]): Promise<string[] | undefined> {
  const unfinished = runs.filter((run) => !isOver(run) && !["unreadable", "untrusted"].includes(run.entry.status));
  if (unfinished.length === 0) return [];
  const resume = unfinished.filter(isResumable).map((run) => ({
    ...choice(run),
    label: `Resume ${label(run)}`,
    words: ["resume", run.entry.run_id],
  }));
  const anew = {
    label: "Start anew",
    description: "the unfinished run stays as it is",
    iconPath: new vscode.ThemeIcon("play"),
    words: ["--fresh"],
  };
  const title = "This workflow has a run that is not finished";
  return (await vscode.window.showQuickPick([...resume, anew], { title, ignoreFocusOut: true }))?.words;
}

/** What a person has to say before a run can go on; undefined: they would not. */
async function answerTo({ advice }: Run, command: () => Promise<string>): Promise<string[] | undefined> {
  switch (advice?.action) {
    case "ask-interrupted": {
      const choices = [
        { label: "Do the step again", words: ["--interrupted", "redo"] },
        { label: "It was done; verify it", words: ["--interrupted", "done"] },
      ];
      const title = `Step ${advice.step} was interrupted, and it is not known how far it came`;
      return (await vscode.window.showQuickPick(choices, { title, ignoreFocusOut: true }))?.words;
    }
    case "ask-verdict": {
      const choice = await vscode.window.showWarningMessage(
        "The review found something.",
        { modal: true, detail: "Its findings are in the report. Accept the work as it is?" },
        "Accept",
      );
      return choice === undefined ? undefined : ["--accept-review"];
    }
    case "ask-budget":
      return raised(await command());
    default:
      return [];
  }
}

/** The bounds that a person raises, as the advice proposes them. */
async function raised(command: string): Promise<string[] | undefined> {
  const proposed = [...command.matchAll(/--raise (\S+)/g)].map((found) => found[1]!);
  const value = await vscode.window.showInputBox({
    title: "A bound of the run is reached",
    prompt: "Raise it to go on, as NAME=VALUE or NAME=unlimited",
    value: proposed.join(" "),
    ignoreFocusOut: true,
    validateInput: (text) => (/^(\w+=\S+\s*)+$/.test(text.trim()) ? undefined : "Write NAME=VALUE, such as max_cost_usd=5."),
  });
  return value?.trim().split(/\s+/).flatMap((word) => ["--raise", word]);
}

/** The file as people write it in that folder; never an option. */
function below(folder: string, file: string): string {
  const path = relative(folder, file);
  return path.startsWith("-") ? `./${path}` : path;
}

function activeUri(): vscode.Uri | undefined {
  return vscode.window.activeTextEditor?.document.uri;
}

/** What is not on a disk has no path. */
function fileOf(uri: vscode.Uri | undefined): string | undefined {
  return uri?.scheme === "file" ? uri.fsPath : undefined;
}

/** The open folder around a file. */
function folderOf(file: string): string | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
  return folder?.uri.scheme === "file" ? folder.uri.fsPath : undefined;
}
