/** The core, from the one file that both bundles of the extension share. */

import type { Core } from "onloop";
import * as vscode from "vscode";

/** Compiled beside everything else that the host does. */
export async function load(
  context: vscode.ExtensionContext,
  make: (module: WebAssembly.Module) => Core,
): Promise<Core> {
  const file = vscode.Uri.joinPath(context.extensionUri, "dist", "onloop.wasm");
  const bytes = await vscode.workspace.fs.readFile(file);
  return make(await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>));
}
