// What the picture in the documentation shows: a run that waits at its gate.

import * as vscode from "vscode";
import { at, extension, open, test } from "./harness.js";

export { activate } from "./harness.js";

test("a run waits at its gate", async () => {
  await extension().activate();
  await vscode.workspace.getConfiguration().update("workbench.colorTheme", "Default Light Modern", true);
  await open("hotl-workflow-greet.md");
  await vscode.commands.executeCommand("onloop.run", at("hotl-workflow-greet.md"));
  await vscode.commands.executeCommand("notifications.clearAll");
  await vscode.commands.executeCommand("onloop.runs.focus");
});
