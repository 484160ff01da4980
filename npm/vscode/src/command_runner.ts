/** Runs that are performed here, and the words that tell how they ended. */

import type { Core } from "onloop";
import * as vscode from "vscode";
import { conduct } from "./conduct.js";
import { EXIT, type Ended } from "./ended.js";
import { logEnd } from "./output.js";
import { run, runInTerminal, runsInTerminal } from "./runner.js";
import { type Run, describe, isFinishable, label, waitingGate } from "./runs.js";
import { lastWords, plain } from "./screen.js";
import type { Watcher } from "./watcher.js";

export class Performer {
  readonly core: Core;
  readonly watcher: Watcher;

  constructor(core: Core, watcher: Watcher) {
    this.core = core;
    this.watcher = watcher;
  }

  /** Performs a command line that drives a run and tells how it ended; nobody waits for an answer to that. */
  async drive(folder: string, title: string, argv: string[]): Promise<number | undefined> {
    if (runsInTerminal()) {
      runInTerminal(folder, title, argv);
      return undefined;
    }
    const ended = await run(this.core, title, { folder, argv, listener: { note: () => this.watcher.soon() } });
    logEnd(folder, argv, ended);
    await this.watcher.refresh();
    void this.#tell(title, ended);
    return ended.exit;
  }

  /** Performs a short command line; `failed` is said where it did not do what was asked. */
  async ask(folder: string, argv: string[], failed: string): Promise<Ended> {
    const ended = await conduct(this.core, { folder, argv });
    logEnd(folder, argv, ended);
    void tellFailure(failed, ended);
    return ended;
  }

  /** Performs a command line that only looks. */
  look(folder: string, argv: string[]): Promise<Ended> {
    return conduct(this.core, { folder, argv });
  }

  async #tell(title: string, ended: Ended): Promise<void> {
    const found = ended.runId === undefined ? undefined : this.watcher.store.find(ended.runId)?.run;
    // Whoever has stopped it knows.
    if (ended.exit === EXIT.interrupted) {
      vscode.window.setStatusBarMessage(`$(debug-stop) ${title} was stopped and can be resumed`, 10_000);
    } else if (found === undefined) {
      if (ended.exit === EXIT.done) void vscode.window.showInformationMessage(`${title}: done.`);
      else await tellFailure(title, ended);
    } else {
      await tellRun(found, ended);
    }
  }
}

/** What a toast offers, and the command that does it for a run. */
const OFFERS = {
  "Decide…": "onloop.gate",
  "Show Changes": "onloop.diff",
  "Open Report": "onloop.report",
  "Merge…": "onloop.finish",
  "Retry…": "onloop.retry",
  "Resume": "onloop.resume",
  "Show Output": "onloop.showOutput",
} as const;
type Offer = keyof typeof OFFERS;

async function tellRun(found: Run, ended: Ended): Promise<void> {
  const name = plain(label(found));
  const show = async (tell: typeof vscode.window.showInformationMessage, words: string, offers: Offer[]): Promise<void> => {
    const chosen = (await tell(words, ...offers)) as Offer | undefined;
    if (chosen !== undefined) await vscode.commands.executeCommand(OFFERS[chosen], found.entry.run_id);
  };
  const { showInformationMessage, showWarningMessage, showErrorMessage } = vscode.window;
  const gate = waitingGate(found);
  if (ended.exit === EXIT.done) {
    const merge: Offer[] = isFinishable(found) ? ["Merge…"] : [];
    await show(showInformationMessage, `${name} is completed.`, ["Show Changes", ...merge, "Open Report"]);
  } else if (gate !== undefined) {
    await show(showInformationMessage, `${name} waits for your decision at step ${gate}.`, ["Decide…", "Show Changes", "Open Report"]);
  } else if (ended.exit === EXIT.paused) {
    await show(showInformationMessage, `${name} is ${describe(found)}. ${lastWords(ended.notes, "")}`, ["Resume", "Open Report"]);
  } else if (found.entry.status === "blocked") {
    const step = found.entry.current_step;
    await show(showWarningMessage, `${name} is blocked at step ${step}.`, ["Retry…", "Open Report", "Show Output"]);
  } else {
    await show(showErrorMessage, `${name}: ${lastWords(ended.notes, ended.result) || `exit ${ended.exit}`}`, ["Show Output"]);
  }
}

/** Says how a command ended, where it did not do what was asked and nobody stopped it. */
export async function tellFailure(what: string, { exit, notes, result }: Ended): Promise<void> {
  if (exit === EXIT.done || exit === EXIT.interrupted) return;
  const words = lastWords(notes, result);
  const chosen = await vscode.window.showErrorMessage(`${what}: ${words === "" ? `exit ${exit}` : words}`, "Show Output");
  if (chosen !== undefined) await vscode.commands.executeCommand("onloop.showOutput");
}
