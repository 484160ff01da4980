/** The commands that run workflows, resume runs and start rw-auto. */

import { relative } from "node:path";
import * as vscode from "vscode";
import { type About, choice, pickRun } from "./pick_run.js";
import type { CommandRunner } from "./command_runner.js";
import { agentWords } from "./terminal.js";
import { type Run, isFinished, isResumable, label, runsOf, workflowName } from "./runs.js";
import { folders } from "./watcher.js";

export class Commands {
  readonly #runner: CommandRunner;

  constructor(runner: CommandRunner) {
    this.#runner = runner;
  }

  register(): vscode.Disposable[] {
    const command = (name: string, act: (about: About) => Promise<unknown>): vscode.Disposable =>
      vscode.commands.registerCommand(`onloop.${name}`, act);
    return [
      command("run", (about) => this.#run(about)),
      command("resume", (about) => this.#resume(about)),
      command("auto", (about) => this.#auto(about)),
      command("refresh", () => this.#runner.watcher.refresh()),
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
    // onloop runs the file on the disk.
    if (document?.isDirty && !(await document.save())) return undefined;
    const { watcher } = this.#runner;
    await watcher.refresh();
    const words = await freshOrResume(runsOf(watcher.store.runs(), file));
    if (words === undefined) return undefined;
    const argv = words.length > 0 && words[0] === "resume" ? words : ["run", relativePath(folder, file), ...words];
    return this.#runner.drive(folder, workflowName(file), [...argv, ...agentWords()]);
  }

  async #resume(about: About): Promise<number | undefined> {
    const found = await pickRun(this.#runner.watcher, about, isResumable, "Resume which run?");
    if (found === undefined) return undefined;
    const { run: chosen, folder } = found;
    if (chosen.entry.driven_by != null) {
      void vscode.window.showInformationMessage(`${label(chosen)} is already running.`);
      return undefined;
    }
    const more = await this.#answerTo(chosen, folder);
    if (more === undefined) return undefined;
    const argv = ["resume", chosen.entry.run_id, ...more, ...agentWords()];
    return this.#runner.drive(folder, label(chosen), argv);
  }

  #answerTo(run: Run, folder: string): Promise<string[] | undefined> {
    return resumeOptions(run, async () => {
      const { result } = await this.#runner.query(folder, ["next", "--run-id", run.entry.run_id]);
      return result;
    });
  }

  async #auto(about: About): Promise<number | undefined> {
    const folder = folders()[0];
    if (folder === undefined) return undefined;
    const asked = { title: "rw-auto", prompt: "Describe what to build. Leave empty to continue with the planned tasks." };
    const summary = typeof about === "string" ? about : await vscode.window.showInputBox(asked);
    if (summary === undefined) return undefined;
    return this.#runner.drive(folder, "rw-auto", ["auto", ...agentWords(), ...(summary === "" ? [] : ["--", summary])]);
  }
}

/** Asks whether to resume an unfinished run of the file; `undefined` if the person cancels. */
async function freshOrResume(runs: Run[]): Promise<string[] | undefined> {
  const unfinished = runs.filter((run) => !isFinished(run) && !["unreadable", "untrusted"].includes(run.entry.status));
  if (unfinished.length === 0) return [];
  const resume = unfinished.filter(isResumable).map((run) => ({
    ...choice(run),
    label: `Resume ${label(run)}`,
    words: ["resume", run.entry.run_id],
  }));
  const fresh = {
    label: "Start a new run",
    description: "leaves the unfinished run as it is",
    iconPath: new vscode.ThemeIcon("play"),
    words: ["--fresh"],
  };
  const title = "This workflow has an unfinished run";
  return (await vscode.window.showQuickPick([...resume, fresh], { title, ignoreFocusOut: true }))?.words;
}

/** Asks the question of a run, and returns the options for `onloop resume`; `undefined` if the person cancels. */
async function resumeOptions({ advice }: Run, command: () => Promise<string>): Promise<string[] | undefined> {
  switch (advice?.action) {
    case "ask-interrupted": {
      const choices = [
        { label: "Run the step again", words: ["--interrupted", "redo"] },
        { label: "It is done; verify it", words: ["--interrupted", "done"] },
      ];
      const title = `Step ${advice.step} was interrupted. Run it again?`;
      return (await vscode.window.showQuickPick(choices, { title, ignoreFocusOut: true }))?.words;
    }
    case "ask-verdict": {
      const choice = await vscode.window.showWarningMessage(
        "The review did not pass.",
        { modal: true, detail: "See the report for its findings. Accept the work as it is?" },
        "Accept",
      );
      return choice === undefined ? undefined : ["--accept-review"];
    }
    case "ask-budget":
      return askForLimits(await command());
    default:
      return [];
  }
}

/** Asks for higher limits, with the proposed ones as default. */
async function askForLimits(command: string): Promise<string[] | undefined> {
  const proposed = [...command.matchAll(/--raise (\S+)/g)].map((found) => found[1]!);
  const value = await vscode.window.showInputBox({
    title: "The run reached a limit",
    prompt: "To resume, raise it as NAME=VALUE or NAME=unlimited",
    value: proposed.join(" "),
    ignoreFocusOut: true,
    validateInput: (text) => (/^(\w+=\S+\s*)+$/.test(text.trim()) ? undefined : "Enter NAME=VALUE, such as max_cost_usd=5."),
  });
  return value?.trim().split(/\s+/).flatMap((word) => ["--raise", word]);
}

/** The path relative to the folder, in a form that is never an option. */
function relativePath(folder: string, file: string): string {
  const path = relative(folder, file);
  return path.startsWith("-") ? `./${path}` : path;
}

function activeUri(): vscode.Uri | undefined {
  return vscode.window.activeTextEditor?.document.uri;
}

/** The path of a file on a disk. */
function fileOf(uri: vscode.Uri | undefined): string | undefined {
  return uri?.scheme === "file" ? uri.fsPath : undefined;
}

/** The open folder around a file. */
function folderOf(file: string): string | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
  return folder?.uri.scheme === "file" ? folder.uri.fsPath : undefined;
}
