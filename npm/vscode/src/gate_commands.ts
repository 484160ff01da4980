/** Deciding at gates, with the facts before one's eyes. */

import type { AsksView } from "onloop";
import * as vscode from "vscode";
import { type About, choose } from "./chosen.js";
import { EXIT } from "./ended.js";
import { CHOICES, decisionWords, detail, isNamed, offered } from "./gate.js";
import type { Performer } from "./performer.js";
import { agentWords } from "./runner.js";
import { label, waitingGate } from "./runs.js";
import { plain } from "./screen.js";

export class GateCommands {
  readonly #performer: Performer;

  constructor(performer: Performer) {
    this.#performer = performer;
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
    const { watcher } = this.#performer;
    const found = await choose(watcher, about, (run) => waitingGate(run) !== undefined, "Decide about which run?");
    const step = found && waitingGate(found.run);
    if (found === undefined || step === undefined) return undefined;
    const { run, folder } = found;
    const id = run.entry.run_id;
    const asks = (await watcher.store.view(run))?.asks;
    if (asks === undefined) return undefined;
    const choice = await vscode.window.showWarningMessage(
      `${plain(label(run))}: step ${step} waits for your decision`,
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
      case CHOICES.reject: {
        const decision = await rejection(`Reject step ${step} of ${label(run)}`);
        return decision === undefined ? undefined : this.#decide(folder, decisionWords(id, asks, decision));
      }
      default: {
        if (!(await confirmed(asks))) return undefined;
        const exit = await this.#decide(folder, decisionWords(id, asks, "approved"));
        if (exit !== EXIT.done || choice === CHOICES.approve) return exit;
        return this.#performer.drive(folder, label(run), ["resume", id, ...agentWords()]);
      }
    }
  }

  async #decide(folder: string, argv: string[]): Promise<number> {
    const { exit } = await this.#performer.ask(folder, argv, "The decision was not recorded");
    await this.#performer.watcher.refresh();
    return exit;
  }
}

/** A rejection with its reason; undefined: rather not. */
async function rejection(title: string): Promise<{ reason: string } | undefined> {
  const prompt = "What is to be done otherwise: the step is done again with these words. Empty: the run is blocked.";
  const reason = await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true });
  return reason === undefined ? undefined : { reason };
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
