/** What people do with a run: stop it, have a step tried again, look at its work, end it. */

import * as vscode from "vscode";
import { type About, type Chosen, choose } from "./chosen.js";
import { stop } from "./conduct.js";
import { EXIT } from "./ended.js";
import { logError } from "./output.js";
import type { Performer } from "./performer.js";
import { agentWords } from "./runner.js";
import { type Run, context, isFinishable, label } from "./runs.js";
import { plain } from "./screen.js";

export class RunCommands {
  readonly #performer: Performer;

  constructor(performer: Performer) {
    this.#performer = performer;
  }

  register(): vscode.Disposable[] {
    const command = (name: string, act: (about: About) => Promise<unknown>): vscode.Disposable =>
      vscode.commands.registerCommand(`onloop.${name}`, act);
    return [
      command("stop", (about) => this.#stop(about)),
      command("retry", (about) => this.#retry(about)),
      command("finish", (about) => this.#finish(about)),
      command("abandon", (about) => this.#abandon(about)),
      command("adopt", (about) => this.#adopt(about)),
      command("worktree", (about) => this.#worktree(about)),
      command("record", (about) => this.#record(about)),
    ];
  }

  /** A run that fits, by one of the words that menus look for. */
  #choose(about: About, word: string, title: string): Promise<Chosen | undefined> {
    const fits = (run: Run): boolean => context(run, process.pid).split(" ").includes(word);
    return choose(this.#performer.watcher, about, fits, title);
  }

  async #stop(about: About): Promise<void> {
    const found = await this.#choose(about, "stoppable", "Stop which run?");
    const driver = found?.run.entry.driven_by;
    if (found === undefined || driver == null) return;
    if (stop(found.run.entry.run_id)) return;
    if (!driver.live || driver.role !== null) {
      const where = driver.live ? `process ${driver.pid}, which does other things besides` : `the machine ${driver.host}`;
      void vscode.window.showInformationMessage(`${plain(label(found.run))} is worked on by ${where}. Stop it there.`);
      return;
    }
    // What Ctrl+C does: it records that it was interrupted, and ends its agent.
    try {
      process.kill(driver.pid, "SIGINT");
    } catch (error) {
      logError(`process ${driver.pid} was not interrupted`, error);
      void vscode.window.showErrorMessage(`Process ${driver.pid} could not be interrupted.`);
    }
  }

  /** A blocked step may be tried again; then the run goes on. */
  async #retry(about: About): Promise<number | undefined> {
    const found = await this.#choose(about, "blocked", "Retry which run?");
    if (found === undefined) return undefined;
    const { run, folder } = found;
    const id = run.entry.run_id;
    const steps = (await this.#performer.watcher.store.view(run))?.steps ?? [];
    const step = steps.find(({ status }) => status === "blocked" || status === "failed");
    if (step === undefined) return undefined;
    const reason = await vscode.window.showInputBox({
      title: `Retry step ${step.number} of ${label(run)}: ${step.name}`,
      prompt: `What is different now; the record keeps it. ${step.block_reason ?? ""}`,
      ignoreFocusOut: true,
      validateInput: (text) => (text.trim() === "" ? "Say what is different now." : undefined),
    });
    if (reason === undefined) return undefined;
    const argv = ["step", String(step.number), "reopen", `--reason=${reason.trim()}`, "--run-id", id];
    const { exit } = await this.#performer.ask(folder, argv, "The step was not opened again");
    if (exit !== EXIT.done) return exit;
    return this.#performer.drive(folder, label(run), ["resume", id, ...agentWords()]);
  }

  async #finish(about: About): Promise<number | undefined> {
    const found = await this.#choose(about, "finishable", "Finish which run?");
    if (found === undefined || !isFinishable(found.run)) return undefined;
    const { run, folder } = found;
    const { run_id: id, branch } = run.entry;
    const title = `What becomes of the work of ${label(run)}, on ${branch}?`;
    // A page that is still opening takes the focus; the question stays.
    const options = { title, matchOnDescription: true, ignoreFocusOut: true };
    const words = (await vscode.window.showQuickPick(dispositions(run), options))?.words;
    if (words === undefined) return undefined;
    if (words[0] === "discard" && !(await isSure(run))) return undefined;
    const performing = this.#performer.ask(folder, ["finish", id, ...words], `${label(run)} was not finished`);
    const location = vscode.ProgressLocation.Window;
    const { exit } = await vscode.window.withProgress({ location, title: `onloop: ${words[0]}` }, () => performing);
    await this.#performer.watcher.refresh();
    if (exit === EXIT.done) {
      const done = { merge: "merged", publish: "published", keep: "kept", discard: "discarded" }[words[0] ?? ""];
      void vscode.window.showInformationMessage(`The work of ${plain(label(run))} is ${done}.`);
    }
    return exit;
  }

  async #abandon(about: About): Promise<number | undefined> {
    const found = await this.#choose(about, "open", "Give up which run?");
    if (found === undefined) return undefined;
    const { run, folder } = found;
    const reason = await vscode.window.showInputBox({
      title: `Give up ${label(run)}`,
      prompt: "Why; the record and the work are kept",
      ignoreFocusOut: true,
      validateInput: (text) => (text.trim() === "" ? "Say why." : undefined),
    });
    if (reason === undefined) return undefined;
    const argv = ["abandon", run.entry.run_id, `--reason=${reason.trim()}`];
    const { exit } = await this.#performer.ask(folder, argv, "The run was not given up");
    await this.#performer.watcher.refresh();
    return exit;
  }

  /** A record that came with a clone: what it would run is shown first. */
  async #adopt(about: About): Promise<number | undefined> {
    const found = await this.#choose(about, "untrusted", "Adopt which run?");
    if (found === undefined) return undefined;
    const { run, folder } = found;
    const id = run.entry.run_id;
    const looked = await this.#performer.look(folder, ["adopt", id]);
    const choice = await vscode.window.showWarningMessage(
      `Adopt ${plain(label(run))}?`,
      { modal: true, detail: `${looked.result}${looked.notes}`.trim().slice(0, 4000) },
      "Adopt",
    );
    if (choice === undefined) return undefined;
    const { exit } = await this.#performer.ask(folder, ["adopt", id, "--yes"], "The run was not adopted");
    await this.#performer.watcher.refresh();
    return exit;
  }

  async #worktree(about: About): Promise<void> {
    const found = await this.#choose(about, "worktree", "Open the worktree of which run?");
    const path = found?.run.entry.worktree_path;
    if (path == null) return;
    await vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(path), { forceNewWindow: true });
  }

  async #record(about: About): Promise<void> {
    const found = await choose(this.#performer.watcher, about, () => true, "Open which record?");
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
  const keep = item("archive", "Keep", "branch and worktree stay as they are", "keep");
  const discard = item("trash", "Discard…", "branch and worktree are removed", "discard", "--confirm", "discard");
  if (run.entry.status === "blocked") return [keep, discard];
  return [
    item("git-merge", "Merge", "into the branch it started from; then its branch and worktree are removed", "merge"),
    item("repo-push", "Publish", "push the branch to origin", "publish"),
    item("git-pull-request", "Publish and open a pull request", "with gh", "publish", "--create-pr"),
    keep,
    discard,
  ];
}

async function isSure(run: Run): Promise<boolean> {
  const detail = `Branch ${run.entry.branch} and its worktree are removed. The record of the run is kept.`;
  const choice = await vscode.window.showWarningMessage(
    `Discard the work of ${plain(label(run))}?`,
    { modal: true, detail },
    "Discard",
  );
  return choice === "Discard";
}
