/** The commands that decide at gates. */

import type { AsksView } from "onloop";
import * as vscode from "vscode";
import { type About, pickRun } from "./pick_run.js";
import { EXIT } from "./program_result.js";
import { CHOICES, decisionWords, detail, isNamed, offered } from "./gate.js";
import type { CommandRunner } from "./command_runner.js";
import { agentWords } from "./terminal.js";
import { label, waitingGate } from "./runs.js";
import { plain } from "./text.js";

export class GateCommands {
  readonly #runner: CommandRunner;

  constructor(runner: CommandRunner) {
    this.#runner = runner;
  }

  register(): vscode.Disposable[] {
    const { registerCommand } = vscode.commands;
    return [
      registerCommand("onloop.gate", (about: About, word: unknown) => this.#gate(about, word)),
      registerCommand("onloop.approve", (about: About) => this.#gate(about, "approved")),
      registerCommand("onloop.reject", (about: About) => this.#gate(about, "rejected")),
    ];
  }

  async #gate(about: About, word: unknown): Promise<number | undefined> {
    const { watcher } = this.#runner;
    const found = await pickRun(watcher, about, (run) => waitingGate(run) !== undefined, "Decide which run?");
    const step = found && waitingGate(found.run);
    if (found === undefined || step === undefined) return undefined;
    const { run, folder } = found;
    const id = run.entry.run_id;
    const asks = (await watcher.store.view(run))?.asks;
    if (asks === undefined) return undefined;
    const choice = await vscode.window.showWarningMessage(
      `${plain(label(run))}: step ${step} is waiting for your decision`,
      { modal: true, detail: detail(asks, id) },
      ...offered(word),
    );
    switch (choice) {
      case undefined:
        return undefined;
      case CHOICES.report:
        return void (await vscode.commands.executeCommand("onloop.report", id));
      case CHOICES.changes:
        return void (await vscode.commands.executeCommand("onloop.diff", id));
      case CHOICES.redo: {
        const redo = await reason(`Request changes to step ${step} of ${label(run)}`, "The step runs again with this text.");
        return redo === undefined ? undefined : this.#decide(folder, decisionWords(id, asks, { redo }));
      }
      case CHOICES.reject: {
        const reject = await reason(`Reject step ${step} of ${label(run)}`, "The run ends for this reason. Its work is kept.");
        return reject === undefined ? undefined : this.#decide(folder, decisionWords(id, asks, { reject }));
      }
      default: {
        if (!(await confirmed(asks))) return undefined;
        const exit = await this.#decide(folder, decisionWords(id, asks, "approved"));
        if (exit !== EXIT.done || choice === CHOICES.approve) return exit;
        return this.#runner.drive(folder, label(run), ["resume", id, ...agentWords()]);
      }
    }
  }

  async #decide(folder: string, argv: string[]): Promise<number> {
    const { exit } = await this.#runner.execute(folder, argv, "The decision was not recorded");
    await this.#runner.watcher.refresh();
    return exit;
  }
}

/** Asks for a reason; `undefined` if the person cancels. */
async function reason(title: string, prompt: string): Promise<string | undefined> {
  const validateInput = (typed: string) => (typed.trim() === "" ? "Say why." : undefined);
  return vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true, validateInput });
}

/** Asks for the name of the step if the risk is high. */
async function confirmed(asks: AsksView): Promise<boolean> {
  if (asks.type_name === null) return true;
  const typed = await vscode.window.showInputBox({
    title: "High risk",
    prompt: `To approve, type the name of the step: ${asks.type_name}`,
    ignoreFocusOut: true,
    validateInput: (typed) => (isNamed(asks, typed) ? undefined : "This is not the name of the step."),
  });
  return typed !== undefined && isNamed(asks, typed);
}
