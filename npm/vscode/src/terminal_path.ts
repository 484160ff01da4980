/** Offers the onloop of the extension in terminals of the editor. */

import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import * as vscode from "vscode";
import { logError } from "./output.js";
import { launcher } from "./launcher.js";

/**
 * Appends `onloop` to the `PATH` of terminals, so that an installed one has precedence. The path of the
 * launcher does not change with updates of the extension.
 */
export async function addToTerminalPath(context: vscode.ExtensionContext): Promise<void> {
  try {
    const folder = join(context.globalStorageUri.fsPath, "bin");
    const { name, text } = launcher(process.platform, process.execPath, join(context.extensionPath, "dist", "program.js"));
    const path = join(folder, name);
    await mkdir(folder, { recursive: true });
    const before = await readFile(path, "utf8").catch(() => undefined);
    if (before !== text) await writeFile(path, text);
    await chmod(path, 0o755);
    const variables = context.environmentVariableCollection;
    variables.description = "adds the program `onloop`, unless one is installed";
    variables.append("PATH", delimiter + folder);
  } catch (error) {
    logError("`onloop` was not added to the PATH of terminals", error);
  }
}
