/** Whether a command can be confined here: by a native onloop that is installed. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";

/** Asked once for each program. */
const known = new Map<string, Promise<boolean>>();

/** The words before a command that confine it; undefined: nothing here can. */
export async function confinement(folder: string): Promise<string[] | undefined> {
  const program = vscode.workspace.getConfiguration("onloop").get<string>("executable", "onloop");
  let can = known.get(program);
  if (can === undefined) known.set(program, (can = tried(program, folder)));
  return (await can) ? [program, "confine", "--"] : undefined;
}

function tried(program: string, folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, ["doctor", "confine"], { cwd: folder, timeout: 20_000 }, (error) => resolve(error === null));
  });
}
