/** Which run a command is about. */

import * as vscode from "vscode";
import { type Run, age, describe, icon, label } from "./runs.js";
import type { Row } from "./runs_view.js";
import type { Watcher } from "./watcher.js";

/** How a command is told what it is about: by a lens, by a row of the tree, or not at all. */
export type About = string | Row | vscode.Uri | undefined;

/** A run, and the open folder that it belongs to. */
export interface Chosen {
  run: Run;
  folder: string;
}

/** The run that is meant; where nobody said which, a person chooses among those that fit. */
export async function choose(
  watcher: Watcher,
  about: About,
  fits: (run: Run) => boolean,
  title: string,
): Promise<Chosen | undefined> {
  const id = typeof about === "string" ? about : about !== undefined && "run" in about ? about.run.entry.run_id : undefined;
  // Lenses and rows may be older than what they are about.
  await watcher.refresh();
  const { store } = watcher;
  if (id !== undefined) return store.find(id);
  const choices = store.runs().filter(fits).map(choice);
  if (choices.length === 0) {
    void vscode.window.showInformationMessage("There is no such run here.");
    return undefined;
  }
  const options = { title, matchOnDescription: true, matchOnDetail: true };
  const chosen = choices.length === 1 ? choices[0] : await vscode.window.showQuickPick(choices, options);
  return chosen && store.find(chosen.run.entry.run_id);
}

/** A run in a list of runs. */
export function choice(run: Run): vscode.QuickPickItem & { run: Run } {
  const since = age(run.entry.last_update, Date.now());
  return {
    run,
    label: label(run),
    description: [describe(run), since].filter((part) => part !== undefined).join(" · "),
    detail: run.entry.run_id,
    iconPath: new vscode.ThemeIcon(icon(run).name),
  };
}
