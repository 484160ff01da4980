/** *New Workflow*: creates a workflow file from a sentence, a name and a template. */

import { join } from "node:path";
import * as vscode from "vscode";
import { EXIT } from "./program_result.js";
import type { CommandRunner } from "./command_runner.js";
import { folders } from "./watcher.js";

const KINDS = [
  { label: "Feature", description: "tests first, then the code, then a review", word: "feature" },
  { label: "Bug fix", description: "a failing test, then the fix", word: "bugfix" },
  { label: "Refactoring", description: "the same behavior, tested before and after", word: "refactor" },
  { label: "Parts in parallel", description: "shared code, then parts at the same time, then all together", word: "parallel" },
];

export function registerNewWorkflow(runner: CommandRunner): vscode.Disposable {
  return vscode.commands.registerCommand("onloop.new", () => create(runner));
}

/** Returns the file; `undefined` if the person cancels. */
async function create(runner: CommandRunner): Promise<vscode.Uri | undefined> {
  const folder = await chooseFolder();
  if (folder === undefined) return undefined;
  const title = "New Workflow";
  const intent = await vscode.window.showInputBox({
    title: `${title} (1 of 3)`,
    prompt: "Describe in one sentence what to build.",
    placeHolder: "Limit requests per user",
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === "" ? "Describe what to build." : undefined),
  });
  if (intent === undefined) return undefined;
  const slug = await vscode.window.showInputBox({
    title: `${title} (2 of 3)`,
    prompt: "Name of file, branch and run",
    value: slugOf(intent),
    ignoreFocusOut: true,
    validateInput: (text) => (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) ? undefined : "Use lowercase letters, digits and hyphens."),
  });
  if (slug === undefined) return undefined;
  const kind = await vscode.window.showQuickPick(KINDS, {
    title: `${title} (3 of 3)`,
    placeHolder: "What kind of work is it?",
    ignoreFocusOut: true,
  });
  if (kind === undefined) return undefined;
  const argv = ["new", slug, "--template", kind.word, `--intent=${intent.trim()}`];
  const { exit, result } = await runner.execute(folder, argv, "The workflow was not written");
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

/** Makes a name from the first words of a sentence. */
function slugOf(intent: string): string {
  const words = intent.toLowerCase().normalize("NFKD").match(/[a-z0-9]+/g) ?? [];
  return words.slice(0, 4).join("-").slice(0, 40);
}
