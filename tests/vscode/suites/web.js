// A web worker has only the language features, and the window says so.

import * as vscode from "vscode";
import { equal, extension, ok, test } from "./harness.js";
import "./language.js";

export { activate } from "./harness.js";

test("the web extension is active", async () => {
  const api = await extension().activate();
  equal(Object.keys(api), ["core"]);
  const commands = await vscode.commands.getCommands(true);
  equal(commands.filter((name) => /^onloop\.(run|report|dashboard)$/.test(name)), []);
  ok(typeof process === "undefined", "this is no web worker");
});
