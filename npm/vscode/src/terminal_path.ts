/** Offers the onloop of the extension in terminals of the editor. */

import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import * as vscode from "vscode";
import { logError } from "./output.js";
import { launcher } from "./launcher.js";
import { terminalProgram, usesTerminal } from "./terminal.js";

/** The program of the extension, and the launcher, whose path does not change with updates of the extension. */
export async function installLauncher(context: vscode.ExtensionContext): Promise<{ program: string; launcher: string }> {
  const folder = join(context.globalStorageUri.fsPath, "bin");
  const program = join(context.extensionPath, "dist", "program.js");
  const { name, text } = launcher(process.platform, process.execPath, program);
  const path = join(folder, name);
  await mkdir(folder, { recursive: true });
  const before = await readFile(path, "utf8").catch(() => undefined);
  if (before !== text) await writeFile(path, text);
  await chmod(path, 0o755);
  return { program, launcher: path };
}

/** The words that start drivers in the background: the program that runs in a terminal, if runs do. */
export async function driverProgram(context: vscode.ExtensionContext): Promise<string[]> {
  if (usesTerminal()) return [terminalProgram()];
  const { launcher } = await installLauncher(context);
  // Windows runs a batch file only with its shell.
  return process.platform === "win32" ? ["cmd", "/d", "/c", launcher] : [launcher];
}

/** Appends `onloop` to the `PATH` of terminals, so that an installed one has precedence. */
export async function addToTerminalPath(context: vscode.ExtensionContext): Promise<void> {
  try {
    const folder = dirname((await installLauncher(context)).launcher);
    const variables = context.environmentVariableCollection;
    variables.description = "adds the program `onloop`, unless one is installed";
    variables.append("PATH", delimiter + folder);
  } catch (error) {
    logError("`onloop` was not added to the PATH of terminals", error);
  }
}
