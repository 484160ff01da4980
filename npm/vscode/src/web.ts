/** Entry point in a web worker, with the language features only. */

import { Core } from "onloop/slim";
import * as vscode from "vscode";
import { Editor } from "./editor.js";
import { load } from "./load.js";

/** The API for other extensions. */
export interface Api {
  core(): Promise<Core>;
}

export async function activate(context: vscode.ExtensionContext): Promise<Api> {
  const core = await load(context, (module) => new Core(module));
  new Editor(core, context);
  const item = vscode.window.createStatusBarItem("onloop.web", vscode.StatusBarAlignment.Right);
  item.name = "onloop";
  item.text = "onloop: checks only";
  item.tooltip = "This window cannot start processes. Open the folder in VS Code on a machine to run workflows.";
  const show = (editor: vscode.TextEditor | undefined): void => {
    const isMarkdown = editor?.document.languageId === "markdown";
    if (isMarkdown) item.show();
    else item.hide();
  };
  context.subscriptions.push(item, vscode.window.onDidChangeActiveTextEditor(show));
  show(vscode.window.activeTextEditor);
  return { core: async () => core };
}
