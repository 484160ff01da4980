// A window that was just opened: nobody has opened a file or a view, or asked the extension for anything.

import * as vscode from "vscode";
import { extension, test, until } from "./harness.js";

export { activate } from "./harness.js";

test("a gate that waits is seen without anything being opened", async () => {
  const nothing = new vscode.EventEmitter();
  const asking = setInterval(() => nothing.fire(), 50);
  await until(nothing.event, async () => (extension().isActive ? true : undefined), "the extension");
  clearInterval(asking);
  const { runs, onDidChangeRuns } = extension().exports;
  await until(onDidChangeRuns, async () => runs().find(({ advice }) => advice?.action === "ask-gate"), "the run");
});
