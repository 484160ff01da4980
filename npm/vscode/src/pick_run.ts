/** Finds the run that a command is about. */

import * as vscode from "vscode";
import { type Run, age, describe, icon, label } from "./runs.js";
import type { Row } from "./runs_view.js";
import type { Watcher } from "./watcher.js";

/** The argument of a command: a run id from a lens, a row of the tree, a file, or nothing. */
export type About = string | Row | vscode.Uri | undefined;

/** A run and its open folder. */
export interface PickedRun {
  run: Run;
  folder: string;
}

/** The run of `about`. Without one, a person picks among the runs that fit. */
export async function pickRun(
  watcher: Watcher,
  about: About,
  fits: (run: Run) => boolean,
  title: string,
): Promise<PickedRun | undefined> {
  const id = typeof about === "string" ? about : about !== undefined && "run" in about ? about.run.entry.run_id : undefined;
  // A lens or a row may be out of date.
  await watcher.refresh();
  const { store } = watcher;
  if (id !== undefined) return store.find(id);
  const choices = store.runs().filter(fits).map(choice);
  if (choices.length === 0) {
    void vscode.window.showInformationMessage("This workspace has no such run.");
    return undefined;
  }
  const options = { title, matchOnDescription: true, matchOnDetail: true };
  const chosen = choices.length === 1 ? choices[0] : await vscode.window.showQuickPick(choices, options);
  return chosen && store.find(chosen.run.entry.run_id);
}

/** A run as an item of a quick pick. */
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
