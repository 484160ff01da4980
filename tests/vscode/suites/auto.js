// Planner and loop in turns, by a command of the editor.

import * as vscode from "vscode";
import { at, equal, extension, ok, read, test } from "./harness.js";

export { activate } from "./harness.js";

test("planner and loop work in turns until the work is done", async () => {
  await extension().activate();
  equal(await vscode.commands.executeCommand("onloop.auto", "add a greeting"), 0);
  const progress = await read(at(".ai/PROGRESS.md"));
  ok(progress.includes("| TASK-01 | add a greeting | completed | - |"), progress);
});
