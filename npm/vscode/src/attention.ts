/** Says that something waits for a person: on the view, in the status bar, and once as a toast. */

import * as vscode from "vscode";
import { wasDriven } from "./conduct.js";
import { age } from "./runs.js";
import { plain } from "./screen.js";
import type { Waiting } from "./waiting.js";

/** What can show how much waits. */
export interface Badged {
  badge?: vscode.ViewBadge | undefined;
}

export class Attention implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("onloop.waiting", vscode.StatusBarAlignment.Left, 1);
  readonly #view: Badged;
  /** What has been shown; undefined: nothing yet, as in a fresh window. */
  #known: Set<string> | undefined;

  constructor(view: Badged) {
    this.#view = view;
    this.#item.name = "onloop: waiting for you";
    this.#item.command = "onloop.decide";
  }

  /** `isAll`: everything was looked at, so that what comes later is new. */
  show(waiting: readonly Waiting[], isAll: boolean): void {
    const { length } = waiting;
    const words = length === 1 ? "1 decision waits for you" : `${length} decisions wait for you`;
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
    // In a fresh window badge and status bar have said it.
    if (known === undefined) return;
    for (const one of waiting) if (!known.has(one.key) && !wasDrivenHere(one)) void tell(one);
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** What a run of this window waits for is told where it has ended. */
function wasDrivenHere({ about }: Waiting): boolean {
  return "run" in about && wasDriven(about.run.entry.run_id);
}

/** Leads to the decision that is to be taken; where there are several, a person chooses. */
export async function decide(all: readonly Waiting[]): Promise<void> {
  if (all.length === 0) {
    void vscode.window.showInformationMessage("Nothing waits for you.");
    return;
  }
  const choices = all.map((one) => ({
    label: one.title,
    description: [one.detail, age(one.since, Date.now())].filter((part) => part !== undefined).join(" · "),
    iconPath: new vscode.ThemeIcon("call" in one.about ? "shield" : "bell-dot"),
    one,
  }));
  const options = { title: "What waits for you", matchOnDescription: true };
  const chosen = choices.length === 1 ? choices[0] : await vscode.window.showQuickPick(choices, options);
  if (chosen !== undefined) await vscode.commands.executeCommand(chosen.one.command, chosen.one.argument);
}

async function tell({ title, detail, command, argument }: Waiting): Promise<void> {
  const chosen = await vscode.window.showInformationMessage(`${plain(title)}: ${plain(detail)}`, "Decide…");
  if (chosen !== undefined) await vscode.commands.executeCommand(command, argument);
}

function markdown(text: string): string {
  return plain(text).replace(/[\\`*_{}[\]()#+\-.!<>|]/g, "\\$&");
}
