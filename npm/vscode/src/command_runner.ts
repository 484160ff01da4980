/** Runs command lines and reports their results. */

import type { Core } from "onloop";
import * as vscode from "vscode";
import { runProgram } from "./run_program.js";
import { EXIT, type ProgramResult } from "./program_result.js";
import { logResult } from "./output.js";
import { run, runInTerminal, usesTerminal } from "./terminal.js";
import { type Run, describe, isFinishable, label, waitingGate } from "./runs.js";
import { lastLines, plain } from "./text.js";
import type { Watcher } from "./watcher.js";

export class CommandRunner {
  readonly core: Core;
  readonly watcher: Watcher;

  constructor(core: Core, watcher: Watcher) {
    this.core = core;
    this.watcher = watcher;
  }

  /** Runs a command line that drives a run, and shows the result. */
  async drive(folder: string, title: string, argv: string[]): Promise<number | undefined> {
    if (usesTerminal()) {
      runInTerminal(folder, title, argv);
      return undefined;
    }
    const ended = await run(this.core, title, { folder, argv, listener: { note: () => this.watcher.soon() } });
    logResult(folder, argv, ended);
    await this.watcher.refresh();
    void this.#showResult(title, ended);
    return ended.exit;
  }

  /** Runs a short command line. After a failure it shows `failed`. */
  async execute(folder: string, argv: string[], failed: string): Promise<ProgramResult> {
    const ended = await runProgram(this.core, { folder, argv });
    logResult(folder, argv, ended);
    void showFailure(failed, ended);
    return ended;
  }

  /** Runs a command line that only reads. */
  query(folder: string, argv: string[]): Promise<ProgramResult> {
    return runProgram(this.core, { folder, argv });
  }

  async #showResult(title: string, ended: ProgramResult): Promise<void> {
    const found = ended.runId === undefined ? undefined : this.watcher.store.find(ended.runId)?.run;
    if (ended.exit === EXIT.interrupted) {
      vscode.window.setStatusBarMessage(`$(debug-stop) ${title} was interrupted and can be resumed`, 10_000);
    } else if (found === undefined) {
      if (ended.exit === EXIT.done) void vscode.window.showInformationMessage(`${title} is completed.`);
      else await showFailure(title, ended);
    } else {
      await showRunResult(found, ended);
    }
  }
}

/** The buttons of a notification, with their commands. */
const OFFERS = {
  "Decide…": "onloop.gate",
  "Show Changes": "onloop.diff",
  "Open Run": "onloop.report",
  "Merge": "onloop.finish merge",
  "Pull Request": "onloop.finish pr",
  "Retry…": "onloop.retry",
  "Resume": "onloop.resume",
  "Show Output": "onloop.showOutput",
} as const;
type Offer = keyof typeof OFFERS;

async function showRunResult(found: Run, ended: ProgramResult): Promise<void> {
  const name = plain(label(found));
  const show = async (tell: typeof vscode.window.showInformationMessage, words: string, offers: Offer[]): Promise<void> => {
    const chosen = (await tell(words, ...offers)) as Offer | undefined;
    if (chosen === undefined) return;
    const [command = "", ...rest] = OFFERS[chosen].split(" ");
    await vscode.commands.executeCommand(command, found.entry.run_id, ...rest);
  };
  const { showInformationMessage, showWarningMessage, showErrorMessage } = vscode.window;
  const gate = waitingGate(found);
  if (ended.exit === EXIT.done) {
    const ends: Offer[] = isFinishable(found) ? ["Merge", "Pull Request"] : [];
    await show(showInformationMessage, `${name} is completed.`, ["Show Changes", ...ends, "Open Run"]);
  } else if (gate !== undefined) {
    await show(showInformationMessage, `${name} is waiting for your decision at step ${gate}.`, ["Decide…", "Show Changes", "Open Run"]);
  } else if (ended.exit === EXIT.paused) {
    await show(showInformationMessage, `${name}: ${describe(found)}. ${lastLines(ended.notes, "")}`, ["Resume", "Open Run"]);
  } else if (found.entry.status === "blocked") {
    const step = found.entry.current_step;
    await show(showWarningMessage, `${name} is blocked at step ${step}.`, ["Retry…", "Open Run", "Show Output"]);
  } else {
    await show(showErrorMessage, `${name}: ${lastLines(ended.notes, ended.result) || `exit ${ended.exit}`}`, ["Show Output"]);
  }
}

/** Shows a failure. An interrupted program is not a failure. */
export async function showFailure(what: string, { exit, notes, result }: ProgramResult): Promise<void> {
  if (exit === EXIT.done || exit === EXIT.interrupted) return;
  const words = lastLines(notes, result);
  const chosen = await vscode.window.showErrorMessage(`${what}: ${words === "" ? `exit ${exit}` : words}`, "Show Output");
  if (chosen !== undefined) await vscode.commands.executeCommand("onloop.showOutput");
}
