/** *New Workflow*: a file that lints clean, from a name and a sentence. */

import { join } from "node:path";
import * as vscode from "vscode";
import { EXIT } from "./ended.js";
import type { Performer } from "./performer.js";
import { folders } from "./watcher.js";

const KINDS = [
  { label: "Feature", description: "tests first, then the work, then a look at it", word: "feature" },
  { label: "Bug fix", description: "a test that shows it, then the fix", word: "bugfix" },
  { label: "Refactoring", description: "the same behavior, proven before and after", word: "refactor" },
];

export function registerNewWorkflow(performer: Performer): vscode.Disposable {
  return vscode.commands.registerCommand("onloop.new", () => create(performer));
}

/** Returns the file, or nothing where a person has changed their mind. */
async function create(performer: Performer): Promise<vscode.Uri | undefined> {
  const folder = await chooseFolder();
  if (folder === undefined) return undefined;
  const title = "New Workflow";
  const intent = await vscode.window.showInputBox({
    title: `${title} (1 of 3)`,
    prompt: "One sentence: what is to be built?",
    placeHolder: "Limit requests per user",
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === "" ? "Say what is to be built." : undefined),
  });
  if (intent === undefined) return undefined;
  const slug = await vscode.window.showInputBox({
    title: `${title} (2 of 3)`,
    prompt: "Name of file, branch and run",
    value: slugOf(intent),
    ignoreFocusOut: true,
    validateInput: (text) => (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) ? undefined : "Use small letters, digits and dashes."),
  });
  if (slug === undefined) return undefined;
  const kind = await vscode.window.showQuickPick(KINDS, {
    title: `${title} (3 of 3)`,
    placeHolder: "Which kind of work is it?",
    ignoreFocusOut: true,
  });
  if (kind === undefined) return undefined;
  const argv = ["new", slug, "--template", kind.word, `--intent=${intent.trim()}`];
  const { exit, result } = await performer.ask(folder, argv, "The workflow was not written");
  if (exit !== EXIT.done) return undefined;
  const uri = vscode.Uri.file(join(folder, result.trim()));
  await vscode.window.showTextDocument(uri);
  return uri;
}

async function chooseFolder(): Promise<string | undefined> {
  const open = folders();
  if (open.length > 1) {
    const chosen = await vscode.window.showWorkspaceFolderPick({ placeHolder: "In which folder?" });
    return chosen?.uri.scheme === "file" ? chosen.uri.fsPath : undefined;
  }
  if (open[0] === undefined) void vscode.window.showErrorMessage("Open a folder on a disk first.");
  return open[0];
}

/** A name made of the first words of a sentence. */
function slugOf(intent: string): string {
  const words = intent.toLowerCase().normalize("NFKD").match(/[a-z0-9]+/g) ?? [];
  return words.slice(0, 4).join("-").slice(0, 40);
}
