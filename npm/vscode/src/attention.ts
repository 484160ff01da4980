/** Shows waiting decisions on the view, in the status bar and as a notification. */

import * as vscode from "vscode";
import { drivenHere } from "./run_program.js";
import { age } from "./runs.js";
import { plain } from "./text.js";
import type { Waiting } from "./waiting.js";

/** A view with a badge. */
export interface Badged {
  badge?: vscode.ViewBadge | undefined;
}

export class Attention implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("onloop.waiting", vscode.StatusBarAlignment.Left, 1);
  readonly #view: Badged;
  /** The decisions of the last call; `undefined` in a new window. */
  #known: Set<string> | undefined;

  constructor(view: Badged) {
    this.#view = view;
    this.#item.name = "onloop: waiting for you";
    this.#item.command = "onloop.decide";
  }

  /** `isAll`: the list is complete, so that later decisions are new. */
  show(waiting: readonly Waiting[], isAll: boolean): void {
    const { length } = waiting;
    const words = length === 1 ? "1 decision is waiting for you" : `${length} decisions are waiting for you`;
    this.#view.badge = { value: length, tooltip: length === 0 ? "" : words };
    if (length === 0) {
      this.#item.hide();
    } else {
      this.#item.text = `$(bell-dot) onloop: ${length}`;
      const lines = waiting.slice(0, 10).map(({ title, detail }) => `- ${markdown(title)}: ${markdown(detail)}`);
      this.#item.tooltip = new vscode.MarkdownString(`**${words}**\n\n${lines.join("\n")}`);
      this.#item.accessibilityInformation = { label: `onloop: ${words}`, role: "button" };
      this.#item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
      this.#item.show();
    }
    const known = this.#known;
    if (isAll) this.#known = new Set(waiting.map(({ key }) => key));
    // In a new window, badge and status bar are enough.
    if (known === undefined) return;
    for (const one of waiting) if (!known.has(one.key) && !isDrivenHere(one)) void notify(one);
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** A run of this window has its own notification when it ends. */
function isDrivenHere({ about }: Waiting): boolean {
  return "run" in about && drivenHere(about.run.entry.run_id);
}

/** Shows the decision; among several, a person picks one. */
export async function decide(all: readonly Waiting[]): Promise<void> {
  if (all.length === 0) {
    void vscode.window.showInformationMessage("Nothing is waiting for you.");
    return;
  }
  const choices = all.map((one) => ({
    label: one.title,
    description: [one.detail, age(one.since, Date.now())].filter((part) => part !== undefined).join(" · "),
    iconPath: new vscode.ThemeIcon("call" in one.about ? "shield" : "bell-dot"),
    one,
  }));
  const options = { title: "Waiting for you", matchOnDescription: true };
  const chosen = choices.length === 1 ? choices[0] : await vscode.window.showQuickPick(choices, options);
  if (chosen !== undefined) await vscode.commands.executeCommand(chosen.one.command, chosen.one.argument);
}

async function notify({ title, detail, command, argument }: Waiting): Promise<void> {
  const chosen = await vscode.window.showInformationMessage(`${plain(title)}: ${plain(detail)}`, "Decide…");
  if (chosen !== undefined) await vscode.commands.executeCommand(command, argument);
}

function markdown(text: string): string {
  return plain(text).replace(/[\\`*_{}[\]()#+\-.!<>|]/g, "\\$&");
}
