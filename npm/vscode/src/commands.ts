/** What people do with workflows and runs. */

import { relative } from "node:path";
import type { AsksView } from "onloop";
import * as vscode from "vscode";
import { type Programs, conduct } from "./conduct.js";
import { EXIT, type Ended } from "./ended.js";
import { CHOICES, decisionWords, detail, isNamed, offered } from "./gate.js";
import { agentWords, run, runInTerminal, runsInTerminal, tellFailure } from "./runner.js";
import { type Run, describe, isOver, isResumable, reportPath, runsOf, waitingGate } from "./runs.js";
import type { Row } from "./runs_view.js";
import { type Watcher, folders } from "./watcher.js";

/** How a command is told what it is about: by a lens, by a row of the tree, or not at all. */
type About = string | Row | vscode.Uri | undefined;

export class Commands {
  readonly #core: Programs;
  readonly #watcher: Watcher;

  constructor(core: Programs, watcher: Watcher) {
    this.#core = core;
    this.#watcher = watcher;
  }

  register(): vscode.Disposable[] {
    const command = (name: string, act: (about: About, word?: unknown) => Promise<unknown>): vscode.Disposable =>
      vscode.commands.registerCommand(`onloop.${name}`, act);
    return [
      command("run", (about) => this.#run(about)),
      command("resume", (about) => this.#resume(about)),
      command("gate", (about, word) => this.#gate(about, word)),
      command("report", (about) => this.#report(about)),
      command("record", (about) => this.#record(about)),
      command("auto", (about) => this.#auto(about)),
      command("refresh", () => this.#watcher.refresh()),
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
    await this.#watcher.refresh();
    const words = await this.#anewOrOn(runsOf(this.#watcher.store.runs(), file));
    if (words === undefined) return undefined;
    const argv = words.length > 0 && words[0] === "resume" ? words : ["run", below(folder, file), ...words];
    return this.#perform(folder, [...argv, ...agentWords()]);
  }

  /** What to do about an unfinished run of the same file; undefined: nothing at all. */
  async #anewOrOn(runs: Run[]): Promise<string[] | undefined> {
    const unfinished = runs.filter((run) => !isOver(run) && run.entry.status !== "unreadable");
    if (unfinished.length === 0) return [];
    const choices = unfinished.map((run) => ({
      label: `$(debug-continue) Resume ${run.entry.run_id}`,
      description: describe(run),
      words: ["resume", run.entry.run_id],
    }));
    const anew = { label: "$(play) Start anew", description: "the unfinished run stays as it is", words: ["--fresh"] };
    const title = "This workflow has a run that is not finished";
    return (await vscode.window.showQuickPick([...choices, anew], { title }))?.words;
  }

  async #resume(about: About): Promise<number | undefined> {
    const found = await this.#choose(about, isResumable, "Resume which run?");
    if (found === undefined) return undefined;
    const { run: chosen, folder } = found;
    const more = await answerTo(chosen);
    if (more === undefined) return undefined;
    return this.#perform(folder, ["resume", chosen.entry.run_id, ...more, ...agentWords()]);
  }

  async #gate(about: About, word: unknown): Promise<number | undefined> {
    const found = await this.#choose(about, (run) => waitingGate(run) !== undefined, "Decide about which run?");
    const step = found && waitingGate(found.run);
    if (found === undefined || step === undefined) return undefined;
    const { run: chosen, folder } = found;
    const id = chosen.entry.run_id;
    const asks = (await this.#watcher.store.view(chosen))?.asks;
    if (asks === undefined) return undefined;
    const choice = await vscode.window.showWarningMessage(
      `Step ${step} of ${id} waits for your decision.`,
      { modal: true, detail: detail(asks) },
      ...offered(word),
    );
    switch (choice) {
      case undefined:
        return undefined;
      case CHOICES.report:
        return void (await this.#report(id));
      case CHOICES.changes:
        return void (await this.#changes(folder, id));
      case CHOICES.reject: {
        const reason = await vscode.window.showInputBox({
          title: `Reject step ${step} of ${id}`,
          prompt: "What is to be done otherwise; empty: the run is blocked",
          ignoreFocusOut: true,
        });
        return reason === undefined ? undefined : this.#decide(folder, decisionWords(id, asks, { reason }));
      }
      default: {
        if (!(await confirmed(asks))) return undefined;
        const exit = await this.#decide(folder, decisionWords(id, asks, "approved"));
        if (exit !== EXIT.done || choice === CHOICES.approve) return exit;
        return this.#perform(folder, ["resume", id, ...agentWords()]);
      }
    }
  }

  async #decide(folder: string, argv: string[]): Promise<number> {
    const ended = await conduct(this.#core, { folder, argv });
    tellFailure("The decision was not recorded", ended);
    await this.#watcher.refresh();
    return ended.exit;
  }

  /** What nobody has approved yet. */
  async #changes(folder: string, id: string): Promise<void> {
    const ended = await conduct(this.#core, { folder, argv: ["diff", id] });
    tellFailure("The changes cannot be shown", ended);
    if (ended.exit !== EXIT.done) return;
    const document = await vscode.workspace.openTextDocument({ language: "diff", content: ended.result });
    await vscode.window.showTextDocument(document, { preview: true });
  }

  async #report(about: About): Promise<void> {
    const found = await this.#choose(about, () => true, "Open which report?");
    const path = found && reportPath(found.run.entry);
    if (path !== undefined) await vscode.commands.executeCommand("markdown.showPreview", vscode.Uri.file(path));
  }

  async #record(about: About): Promise<void> {
    const found = await this.#choose(about, () => true, "Open which record?");
    if (found !== undefined) await vscode.window.showTextDocument(vscode.Uri.file(found.run.entry.state_file));
  }

  async #auto(about: About): Promise<number | undefined> {
    const folder = folders()[0];
    if (folder === undefined) return undefined;
    const asked = { title: "rw-auto", prompt: "What to build, in words; empty: go on with the tasks that are there" };
    const summary = typeof about === "string" ? about : await vscode.window.showInputBox(asked);
    if (summary === undefined) return undefined;
    return this.#perform(folder, ["auto", ...agentWords(), ...(summary === "" ? [] : ["--", summary])]);
  }

  /** Performs a run and tells how it ended; nobody waits for an answer to that. */
  async #perform(folder: string, argv: string[]): Promise<number | undefined> {
    const title = `onloop ${argv[0]}`;
    if (runsInTerminal()) {
      runInTerminal(folder, title, argv);
      return undefined;
    }
    const ended = await run(this.#core, title, { folder, argv, listener: { note: () => this.#watcher.soon() } });
    await this.#watcher.refresh();
    const id = ended.runId ?? (argv[0] === "resume" ? argv[1] : undefined);
    void this.#tell(title, ended, id);
    return ended.exit;
  }

  /** Says how run `id` ended, and offers its gate; other runs may wait, too, and nobody asked about them. */
  async #tell(title: string, ended: Ended, id: string | undefined): Promise<void> {
    const run = id === undefined ? undefined : this.#watcher.store.find(id)?.run;
    if (ended.exit === EXIT.paused && run !== undefined && waitingGate(run) !== undefined) {
      const { run_id: waiting } = run.entry;
      const choice = await vscode.window.showInformationMessage(`${waiting} ${describe(run)}.`, "Decide…", "Open Report");
      if (choice === "Decide…") await this.#gate(waiting, undefined);
      if (choice === "Open Report") await this.#report(waiting);
      return;
    }
    if (ended.exit === EXIT.done) void vscode.window.showInformationMessage(`${title}: done.`);
    else tellFailure(title, ended);
  }

  async #choose(
    about: About,
    fits: (run: Run) => boolean,
    title: string,
  ): Promise<{ run: Run; folder: string } | undefined> {
    const { store } = this.#watcher;
    const id = typeof about === "string" ? about : about !== undefined && "run" in about ? about.run.entry.run_id : undefined;
    // Lenses and rows may be older than what they are about.
    await this.#watcher.refresh();
    if (id !== undefined) return store.find(id);
    const fitting = store.runs().filter(fits);
    const choices = fitting.map((run) => ({ label: run.entry.run_id, description: describe(run) }));
    if (choices.length === 0) {
      void vscode.window.showInformationMessage("There is no such run here.");
      return undefined;
    }
    const chosen = choices.length === 1 ? choices[0] : await vscode.window.showQuickPick(choices, { title });
    return chosen && store.find(chosen.label);
  }
}

/** Whether a person means it: where the risk is high they type the name of the step. */
async function confirmed(asks: AsksView): Promise<boolean> {
  if (asks.type_name === null) return true;
  const typed = await vscode.window.showInputBox({
    title: "The risk is high",
    prompt: `To approve it, type the name of the step: ${asks.type_name}`,
    ignoreFocusOut: true,
    validateInput: (typed) => (isNamed(asks, typed) ? undefined : "This is not the name of the step."),
  });
  return typed !== undefined && isNamed(asks, typed);
}

/** What a person has to say before a run can go on; undefined: they would not. */
async function answerTo({ advice }: Run): Promise<string[] | undefined> {
  if (advice?.action === "ask-interrupted") {
    const choices = [
      { label: "Do the step again", words: ["--interrupted", "redo"] },
      { label: "It was done; verify it", words: ["--interrupted", "done"] },
    ];
    const title = `Step ${advice.step} was interrupted, and it is not known how far it came`;
    return (await vscode.window.showQuickPick(choices, { title }))?.words;
  }
  if (advice?.action === "ask-verdict") {
    const choice = await vscode.window.showWarningMessage(
      "The review found something.",
      { modal: true, detail: "Its findings are in the report. Accept the work as it is?" },
      "Accept",
    );
    return choice === undefined ? undefined : ["--accept-review"];
  }
  return [];
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
export function folderOf(file: string): string | undefined {
  const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
  return folder?.uri.scheme === "file" ? folder.uri.fsPath : undefined;
}
