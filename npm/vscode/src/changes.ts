/** Shows the changes of a run in the editor's diff view. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import * as vscode from "vscode";
import { type About, pickRun } from "./pick_run.js";
import { EXIT } from "./program_result.js";
import { type ChangedFile, changedFiles } from "./patch.js";
import { type CommandRunner, showFailure } from "./command_runner.js";
import { type Run, context, label } from "./runs.js";

/** Documents of this scheme are blobs of git. */
const SCHEME = "onloop-git";
/** Largest file that is shown. */
const LIMIT_BYTES = 32 * 1024 * 1024;

export function registerChanges(runner: CommandRunner): vscode.Disposable[] {
  return [
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent: content }),
    vscode.commands.registerCommand("onloop.diff", (about: About, step?: unknown) => show(runner, about, step)),
  ];
}

/** Shows the changes of a run or of one step. */
async function show(runner: CommandRunner, about: About, step: unknown): Promise<void> {
  const fits = (run: Run): boolean => context(run, process.pid).includes("readable");
  const found = await pickRun(runner.watcher, about, fits, "Show the changes of which run?");
  if (found === undefined) return;
  const { run, folder } = found;
  const { run_id: id } = run.entry;
  const number = typeof step === "number" ? step : about instanceof Object && "step" in about ? about.step.number : undefined;
  const ended = await runner.query(folder, ["diff", id, ...(number === undefined ? [] : [String(number)])]);
  if (ended.exit !== EXIT.done) return showFailure("Cannot show the changes", ended);
  const title = number === undefined ? `${label(run)}: changes` : `${label(run)}: changes of step ${number}`;
  const files = changedFiles(ended.result);
  if (files.length > 0) return open(title, rootOf(run) ?? folder, files);
  if (ended.result.trim() === "") {
    void vscode.window.showInformationMessage(`${title}: no file changed.`);
    return;
  }
  // The patch has only binary files, whose names it shows.
  const document = await vscode.workspace.openTextDocument({ language: "diff", content: ended.result });
  await vscode.window.showTextDocument(document, { preview: true });
}

async function open(title: string, root: string, files: ChangedFile[]): Promise<void> {
  const rows = files.map(({ path, before, after }) => [
    vscode.Uri.file(`${root}/${path}`),
    before === undefined ? undefined : blobUri(root, path, before),
    after === undefined ? undefined : blobUri(root, path, after),
  ]);
  await vscode.commands.executeCommand("vscode.changes", title, rows);
}

/** A folder of the run's repository. All its worktrees share the blobs. */
function rootOf({ entry }: Run): string | undefined {
  return [entry.execution_root, entry.repo_root].find((path): path is string => path != null && existsSync(path));
}

function blobUri(root: string, path: string, blob: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: `/${path}`, query: JSON.stringify({ root, blob }) });
}

async function content({ query }: vscode.Uri): Promise<string> {
  const { root, blob } = JSON.parse(query) as { root: unknown; blob: unknown };
  if (typeof root !== "string" || typeof blob !== "string" || !/^[0-9a-f]{4,64}$/.test(blob)) return "";
  const words = ["-C", root, "cat-file", "blob", blob];
  const { stdout } = await promisify(execFile)("git", words, { maxBuffer: LIMIT_BYTES, encoding: "utf8" });
  return stdout;
}
