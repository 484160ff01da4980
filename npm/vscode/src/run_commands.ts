/** The commands for a run: stop, retry, finish, abandon, adopt, and open its files. */

import * as vscode from "vscode";
import { type About, type PickedRun, pickRun } from "./pick_run.js";
import { stop } from "./run_program.js";
import { EXIT } from "./program_result.js";
import type { CommandRunner } from "./command_runner.js";
import { agentWords } from "./terminal.js";
import { type Run, context, isFinishable, label } from "./runs.js";
import { plain } from "./text.js";

export class RunCommands {
  readonly #runner: CommandRunner;

  constructor(runner: CommandRunner) {
    this.#runner = runner;
  }

  register(): vscode.Disposable[] {
    const command = (name: string, act: (about: About, word?: unknown) => Promise<unknown>): vscode.Disposable =>
      vscode.commands.registerCommand(`onloop.${name}`, act);
    return [
      command("stop", (about) => this.#stop(about)),
      command("retry", (about) => this.#retry(about)),
      command("finish", (about, word) => this.#finish(about, word)),
      command("abandon", (about) => this.#abandon(about)),
      command("adopt", (about) => this.#adopt(about)),
      command("worktree", (about) => this.#worktree(about)),
      command("record", (about) => this.#record(about)),
    ];
  }

  /** Picks a run whose context value has this word. */
  #choose(about: About, word: string, title: string): Promise<PickedRun | undefined> {
    const fits = (run: Run): boolean => context(run, process.pid).split(" ").includes(word);
    return pickRun(this.#runner.watcher, about, fits, title);
  }

  async #stop(about: About): Promise<void> {
    const found = await this.#choose(about, "stoppable", "Stop which run?");
    if (found === undefined || stop(found.run.entry.run_id)) return;
    // The verb interrupts a process on every system, and refuses one that has other work.
    await this.#runner.execute(found.folder, ["stop", found.run.entry.run_id], `${label(found.run)} was not stopped`);
    await this.#runner.watcher.refresh();
  }

  /** Reopens a blocked step and resumes the run. */
  async #retry(about: About): Promise<number | undefined> {
    const found = await this.#choose(about, "blocked", "Retry which run?");
    if (found === undefined) return undefined;
    const { run, folder } = found;
    const id = run.entry.run_id;
    const steps = (await this.#runner.watcher.store.view(run))?.steps ?? [];
    const step = steps.find(({ status }) => status === "blocked" || status === "failed");
    if (step === undefined) return undefined;
    const reason = await vscode.window.showInputBox({
      title: `Retry step ${step.number} of ${label(run)}: ${step.name}`,
      prompt: `What is different now? The record keeps the answer. ${step.block_reason ?? ""}`,
      ignoreFocusOut: true,
      validateInput: (text) => (text.trim() === "" ? "Describe what is different now." : undefined),
    });
    if (reason === undefined) return undefined;
    const argv = ["step", String(step.number), "reopen", `--reason=${reason.trim()}`, "--run-id", id];
    const { exit } = await this.#runner.execute(folder, argv, "The step was not reopened");
    if (exit !== EXIT.done) return exit;
    return this.#runner.drive(folder, label(run), ["resume", id, ...agentWords()]);
  }

  /** Carries out `chosen`, or asks what becomes of the work. */
  async #finish(about: About, chosen?: unknown): Promise<number | undefined> {
    const found = await this.#choose(about, "finishable", "Finish which run?");
    if (found === undefined || !isFinishable(found.run)) return undefined;
    const { run, folder } = found;
    const { run_id: id, branch } = run.entry;
    const title = `What to do with the work of ${label(run)} on ${branch}?`;
    // A page that is still opening takes the focus.
    const options = { title, matchOnDescription: true, ignoreFocusOut: true };
    const choices = dispositions(run);
    const known = choices.find(({ words }) => words[0] === chosen);
    const words = (known ?? (await vscode.window.showQuickPick(choices, options)))?.words;
    if (words === undefined) return undefined;
    if (words[0] === "discard" && !(await confirmDiscard(run))) return undefined;
    const performing = this.#runner.execute(folder, ["finish", id, ...words], `${label(run)} was not finished`);
    const location = vscode.ProgressLocation.Window;
    const { exit } = await vscode.window.withProgress({ location, title: `onloop: ${words[0]}` }, () => performing);
    await this.#runner.watcher.refresh();
    if (exit === EXIT.done) {
      const done = { merge: "merged", pr: "in a pull request", publish: "published", keep: "kept", discard: "discarded" }[words[0] ?? ""];
      void vscode.window.showInformationMessage(`The work of ${plain(label(run))} is ${done}.`);
    }
    return exit;
  }

  async #abandon(about: About): Promise<number | undefined> {
    const found = await this.#choose(about, "open", "Abandon which run?");
    if (found === undefined) return undefined;
    const { run, folder } = found;
    const reason = await vscode.window.showInputBox({
      title: `Abandon ${label(run)}`,
      prompt: "Why? The record and the work are kept.",
      ignoreFocusOut: true,
      validateInput: (text) => (text.trim() === "" ? "Enter a reason." : undefined),
    });
    if (reason === undefined) return undefined;
    const argv = ["abandon", run.entry.run_id, `--reason=${reason.trim()}`];
    const { exit } = await this.#runner.execute(folder, argv, "The run was not abandoned");
    await this.#runner.watcher.refresh();
    return exit;
  }

  /** Adopts a record that came with a clone, after showing what it would run. */
  async #adopt(about: About): Promise<number | undefined> {
    const found = await this.#choose(about, "untrusted", "Adopt which run?");
    if (found === undefined) return undefined;
    const { run, folder } = found;
    const id = run.entry.run_id;
    const looked = await this.#runner.query(folder, ["adopt", id]);
    const choice = await vscode.window.showWarningMessage(
      `Adopt ${plain(label(run))}?`,
      { modal: true, detail: `${looked.result}${looked.notes}`.trim().slice(0, 4000) },
      "Adopt",
    );
    if (choice === undefined) return undefined;
    const { exit } = await this.#runner.execute(folder, ["adopt", id, "--yes"], "The run was not adopted");
    await this.#runner.watcher.refresh();
    return exit;
  }

  async #worktree(about: About): Promise<void> {
    const found = await this.#choose(about, "worktree", "Open the worktree of which run?");
    const path = found?.run.entry.worktree_path;
    if (path == null) return;
    await vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(path), { forceNewWindow: true });
  }

  async #record(about: About): Promise<void> {
    const found = await pickRun(this.#runner.watcher, about, () => true, "Open which record?");
    if (found !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(found.run.entry.state_file));
  }
}

function dispositions(run: Run): (vscode.QuickPickItem & { words: string[] })[] {
  const item = (icon: string, label: string, description: string, ...words: string[]) => ({
    label,
    description,
    iconPath: new vscode.ThemeIcon(icon),
    words,
  });
  const keep = item("archive", "Keep", "keep branch and worktree as they are", "keep");
  const discard = item("trash", "Discard…", "remove branch and worktree", "discard", "--confirm", "discard");
  if (run.entry.status === "blocked") return [keep, discard];
  return [
    item("git-merge", "Merge", "merge into the base branch, then remove branch and worktree", "merge"),
    item("repo-push", "Publish", "push the branch to origin", "publish"),
    item("git-pull-request", "Pull request", "push the branch and open a pull request", "pr"),
    keep,
    discard,
  ];
}

async function confirmDiscard(run: Run): Promise<boolean> {
  const detail = `Branch ${run.entry.branch} and its worktree are removed. The record of the run is kept.`;
  const choice = await vscode.window.showWarningMessage(
    `Discard the work of ${plain(label(run))}?`,
    { modal: true, detail },
    "Discard",
  );
  return choice === "Discard";
}
