/** The core, from the one file that both bundles of the extension share. */

import type { Core } from "onloop";
import * as vscode from "vscode";

/**
 * The core, read and compiled when somebody asks for it first: most windows with Markdown in them never
 * do. What failed is tried again by whoever asks next.
 */
export function whenNeeded(
  context: vscode.ExtensionContext,
  make: (module: WebAssembly.Module) => Core,
): () => Promise<Core> {
  let loading: Promise<Core> | undefined;
  return () => {
    loading ??= load(context, make).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Compiled beside everything else that the host does. */
async function load(context: vscode.ExtensionContext, make: (module: WebAssembly.Module) => Core): Promise<Core> {
  const file = vscode.Uri.joinPath(context.extensionUri, "dist", "onloop.wasm");
  const bytes = await vscode.workspace.fs.readFile(file);
  return make(await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>));
}
