// A new window without an open file or view, and without a use of the extension.

import * as vscode from "vscode";
import { extension, test, until } from "./harness.js";

export { activate } from "./harness.js";

test("a waiting gate is shown in a new window", async () => {
  const nothing = new vscode.EventEmitter();
  const asking = setInterval(() => nothing.fire(), 50);
  await until(nothing.event, async () => (extension().isActive ? true : undefined), "the extension");
  clearInterval(asking);
  const { runs, onDidChangeRuns } = extension().exports;
  await until(onDidChangeRuns, async () => runs().find(({ advice }) => advice?.action === "ask-gate"), "the run");
});
