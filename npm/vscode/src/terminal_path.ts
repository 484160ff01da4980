/** The program that the extension contains, for terminals of the editor and the agents that use them. */

import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";
import { logError } from "./output.js";
import { starter } from "./starter.js";

/**
 * Puts `onloop` behind everything else on the search path of terminals: one that is installed is found
 * first. The file that starts it stays where it is when the extension is replaced.
 */
export async function offerProgram(context: vscode.ExtensionContext): Promise<void> {
  try {
    const folder = join(context.globalStorageUri.fsPath, "bin");
    const { name, text } = starter(process.platform, process.execPath, join(context.extensionPath, "dist", "program.js"));
    const path = join(folder, name);
    await mkdir(folder, { recursive: true });
    const before = await readFile(path, "utf8").catch(() => undefined);
    if (before !== text) await writeFile(path, text);
    await chmod(path, 0o755);
    const variables = context.environmentVariableCollection;
    variables.description = "adds the program `onloop`, unless one is installed";
    variables.append("PATH", delimiter + folder);
  } catch (error) {
    logError("terminals do not find the program", error);
  }
}
