// In an untrusted folder only the language features work.

import * as vscode from "vscode";
import { equal, extension, ok, refusal, test } from "./harness.js";
import "./language.js";

export { activate } from "./harness.js";

test("nothing runs", async () => {
  equal(vscode.workspace.isTrusted, false);
  const api = await extension().activate();
  equal(api.runs(), []);
  for (const command of ["onloop.run", "onloop.dashboard"]) {
    const error = await refusal(vscode.commands.executeCommand(command));
    ok(/not found/.test(error.message), error.message);
  }
});
