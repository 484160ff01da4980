/** The extension in a web worker: it reads workflow files and runs nothing. */

import { Core } from "onloop/slim";
import * as vscode from "vscode";
import { Editor } from "./editor.js";
import { load } from "./load.js";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  new Editor(await load(context, (module) => new Core(module)), context);
  const item = vscode.window.createStatusBarItem("onloop.web", vscode.StatusBarAlignment.Right);
  item.name = "onloop";
  item.text = "onloop: checks only";
  item.tooltip = "This window has no process that could run workflows. Open the folder in VS Code on a machine to run them.";
  const show = (editor: vscode.TextEditor | undefined): void => {
    const isMarkdown = editor?.document.languageId === "markdown";
    if (isMarkdown) item.show();
    else item.hide();
  };
  context.subscriptions.push(item, vscode.window.onDidChangeActiveTextEditor(show));
  show(vscode.window.activeTextEditor);
}
