/** Loads the core from the file that both bundles share. */

import type { Core } from "onloop";
import * as vscode from "vscode";

export async function load(
  context: vscode.ExtensionContext,
  make: (module: WebAssembly.Module) => Core,
): Promise<Core> {
  const file = vscode.Uri.joinPath(context.extensionUri, "dist", "onloop.wasm");
  const bytes = await vscode.workspace.fs.readFile(file);
  return make(await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>));
}
