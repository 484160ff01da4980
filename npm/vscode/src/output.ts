/** The output channel: which command lines were performed, how they ended, and what went wrong. */

import * as vscode from "vscode";
import type { Ended } from "./ended.js";

let channel: vscode.LogOutputChannel | undefined;

/** Made when there is something to say. */
export function output(): vscode.LogOutputChannel {
  channel ??= vscode.window.createOutputChannel("onloop", { log: true });
  return channel;
}

/** A command line that was performed in `folder`, with what it said. */
export function logEnd(folder: string, argv: string[], { exit, notes }: Ended): void {
  const line = `onloop ${argv.join(" ")} (in ${folder}): exit ${exit}`;
  const said = notes.trim();
  const all = said === "" ? line : `${line}\n${said}`;
  if (exit === 0) output().info(all);
  else output().warn(all);
}

/** Something of ours that failed; nobody has to answer. */
export function logError(what: string, error: unknown): void {
  output().error(`${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
}

/** Shows the channel. */
export function registerOutput(): vscode.Disposable {
  const command = vscode.commands.registerCommand("onloop.showOutput", () => output().show());
  return vscode.Disposable.from(command, { dispose: () => channel?.dispose() });
}
