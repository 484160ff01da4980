// rw-auto by a command of the editor.

import * as vscode from "vscode";
import { at, equal, extension, ok, read, test } from "./harness.js";

export { activate } from "./harness.js";

test("planner and loop work in turns until the work is done", async () => {
  await extension().activate();
  equal(await vscode.commands.executeCommand("onloop.auto", "add a greeting"), 0);
  const progress = await read(at(".ai/PROGRESS.md"));
  ok(progress.includes("| TASK-01 | add a greeting | completed | - |"), progress);
});

test("a run can use the installed program in a terminal", async () => {
  const settings = vscode.workspace.getConfiguration("onloop");
  const { Workspace } = vscode.ConfigurationTarget;
  await settings.update("executable", at("fake.sh").fsPath, Workspace);
  await settings.update("runIn", "terminal", Workspace);
  const closed = new Promise((resolve) => vscode.window.onDidCloseTerminal(resolve));
  equal(await vscode.commands.executeCommand("onloop.auto", "say; date"), undefined);
  equal((await closed).name, "onloop: rw-auto");
  equal(await read(at("arguments")), "auto\n--agent-command\nsh agent.sh\n--\nsay; date\n");
});
