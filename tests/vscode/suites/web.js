// In a web worker there is nothing that could run: checks only, and the window says so.

import * as vscode from "vscode";
import { equal, extension, ok, refusal, test } from "./harness.js";
import "./language.js";

export { activate } from "./harness.js";

test("it is the part without runs that is here", async () => {
  const api = await extension().activate();
  equal(Object.keys(api), ["core"]);
  const commands = await vscode.commands.getCommands(true);
  equal(commands.filter((name) => name === "onloop.run"), []);
  const input = {};
  const refused = await refusal(vscode.lm.invokeTool("onloop_status", { input, toolInvocationToken: undefined }));
  ok(refused.message.includes("no process"), refused.message);
  ok(typeof process === "undefined", "this is no web worker");
});
