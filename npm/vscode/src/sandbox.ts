/** Finds a native onloop, which can confine commands. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";

/** The results by program. */
const known = new Map<string, Promise<boolean>>();

/** The prefix of a command line that confines it; `undefined` without a sandbox. */
export async function sandboxCommand(folder: string): Promise<string[] | undefined> {
  const program = vscode.workspace.getConfiguration("onloop").get<string>("executable", "onloop");
  let can = known.get(program);
  if (can === undefined) known.set(program, (can = canConfine(program, folder)));
  return (await can) ? [program, "confine", "--"] : undefined;
}

function canConfine(program: string, folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, ["doctor", "confine"], { cwd: folder, timeout: 20_000 }, (error) => resolve(error === null));
  });
}
