// In an untrusted folder only the language features work.

import * as vscode from "vscode";
import { equal, extension, ok, refusal, test } from "./harness.js";
import "./language.js";

export { activate } from "./harness.js";

test("nothing runs", async () => {
  equal(vscode.workspace.isTrusted, false);
  const api = await extension().activate();
  equal(api.runs(), []);
  const error = await refusal(vscode.commands.executeCommand("onloop.run"));
  ok(/not found/.test(error.message), error.message);
  const input = {};
  const refused = await refusal(vscode.lm.invokeTool("onloop_status", { input, toolInvocationToken: undefined }));
  ok(refused.message.includes("not trusted"), refused.message);
});
