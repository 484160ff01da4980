// Leaves a run at its gate for the next window.

import * as vscode from "vscode";
import { at, equal, extension, ok, test } from "./harness.js";

export { activate } from "./harness.js";

test("a run waits at its gate, in another worktree", async () => {
  await extension().activate();
  equal(await vscode.commands.executeCommand("onloop.run", at("hotl-workflow-greet.md")), 3);
  const [{ entry }] = (await extension().activate()).runs();
  ok(!entry.run_root.startsWith(at("").fsPath), entry.run_root);
});
