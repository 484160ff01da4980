// Shows one view after the other. The page clicks on the name of a scene after it has taken
// its picture.

import * as vscode from "vscode";
import { at, extension, open, test } from "./harness.js";

export { activate } from "./harness.js";

const { executeCommand } = vscode.commands;

async function scene(name, show) {
  await executeCommand("workbench.action.closeAllEditors");
  // Dialogs are closed at the end of the scene.
  const shown = Promise.resolve(show());
  shown.catch(() => undefined);
  await new Promise((resolve) => {
    const command = vscode.commands.registerCommand(`onloop-tests.seen.${name}`, () => {
      command.dispose();
      item.dispose();
      resolve();
    });
    const item = vscode.window.createStatusBarItem();
    item.text = `scene: ${name}`;
    item.command = `onloop-tests.seen.${name}`;
    item.show();
  });
  await shown;
}

test("every view is shown", async () => {
  const api = await extension().activate();
  await executeCommand("onloop.run", at("hotl-workflow-blocked.md"));
  await executeCommand("onloop.run", at("hotl-workflow-greet.md"));
  const find = (name) => api.runs().find(({ entry }) => entry.run_id.startsWith(name)).entry.run_id;
  await executeCommand("notifications.clearAll");
  await executeCommand("workbench.action.closePanel");
  await scene("tree", async () => {
    await open("hotl-workflow-greet.md");
    await executeCommand("workbench.view.extension.onloop");
    await executeCommand("onloop.runs.focus");
  });
  await scene("gate", () => executeCommand("onloop.gate", find("greet")));
  await scene("run", () => executeCommand("onloop.report", find("greet")));
  await scene("dashboard", () => executeCommand("onloop.dashboard"));
  await scene("changes", () => executeCommand("onloop.diff", find("greet")));
  await scene("colours", () => open(".ai/workflows/colours.md"));
  await scene("tests", () => executeCommand("workbench.view.testing.focus"));
  await scene("finish", () => executeCommand("onloop.finish", find("blocked")));
  await scene("welcome", () => executeCommand("workbench.action.openWalkthrough", "onloop.onloop#start"));
  await scene("output", () => executeCommand("onloop.showOutput"));
});
