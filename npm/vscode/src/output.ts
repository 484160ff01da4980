/** The output channel: command lines with their exit codes, and errors. */

import * as vscode from "vscode";
import type { ProgramResult } from "./program_result.js";

let channel: vscode.LogOutputChannel | undefined;

/** Creates the channel on first use. */
export function output(): vscode.LogOutputChannel {
  channel ??= vscode.window.createOutputChannel("onloop", { log: true });
  return channel;
}

/** Logs a command line and its output. */
export function logResult(folder: string, argv: string[], { exit, notes }: ProgramResult): void {
  const line = `onloop ${argv.join(" ")} (in ${folder}): exit ${exit}`;
  const said = notes.trim();
  const all = said === "" ? line : `${line}\n${said}`;
  if (exit === 0) output().info(all);
  else output().warn(all);
}

/** Logs an error that the person does not need to act on. */
export function logError(what: string, error: unknown): void {
  output().error(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
}

export function registerOutput(): vscode.Disposable {
  const command = vscode.commands.registerCommand("onloop.showOutput", () => output().show());
  return vscode.Disposable.from(command, { dispose: () => channel?.dispose() });
}
