// Following and steering runs. The page types and chooses where a person has to.

import * as vscode from "vscode";
import { at, equal, extension, ok, open, read, test, until } from "./harness.js";

export { activate } from "./harness.js";

const { executeCommand } = vscode.commands;
const BLOCKED = "hotl-workflow-blocked.md";

const tabs = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
const tab = (label) =>
  until(vscode.window.tabGroups.onDidChangeTabs, async () => tabs().find((tab) => tab.label.includes(label)), `a tab \`${label}\``);

async function newest(file) {
  const api = await extension().activate();
  return api.runs().find(({ entry }) => entry.source_workflow_path?.endsWith(file));
}

test("a failing step blocks its run", async () => {
  await extension().activate();
  equal(await executeCommand("onloop.run", at(BLOCKED)), 1);
  const { entry } = await newest(BLOCKED);
  equal([entry.status, entry.driven_by], ["blocked", null]);
  const lenses = await executeCommand("vscode.executeCodeLensProvider", (await open(BLOCKED)).uri);
  const titles = lenses.map(({ command }) => command.title);
  ok(titles.some((title) => title.endsWith("Retry…")) && !titles.some((title) => title.endsWith(" Resume")), titles.join());
});

test("a blocked step is retried with a reason", async () => {
  const { entry } = await newest(BLOCKED);
  await vscode.workspace.fs.writeFile(vscode.Uri.file(`${entry.run_root}/../permission`), new Uint8Array());
  equal(await executeCommand("onloop.retry", entry.run_id), 0);
  equal((await newest(BLOCKED)).entry.status, "completed");
  const ledger = await read(vscode.Uri.file(entry.state_file));
  ok(ledger.includes("a person said yes"), ledger);
});

test("the changes of a run open in the diff view", async () => {
  const { entry } = await newest(BLOCKED);
  await executeCommand("onloop.diff", entry.run_id);
  await tab("blocked: changes");
});

test("its page opens once", async () => {
  const { entry } = await newest(BLOCKED);
  const pages = async () => {
    const found = tabs().filter(({ input }) => input instanceof vscode.TabInputWebview).map(({ label }) => label);
    return found.length > 0 ? found : undefined;
  };
  await executeCommand("onloop.report", entry.run_id);
  await until(vscode.window.tabGroups.onDidChangeTabs, pages, "its page");
  await executeCommand("onloop.report", entry.run_id, 1);
  equal(await pages(), ["blocked"]);
});

test("its work is merged", async () => {
  const { entry } = await newest(BLOCKED);
  equal(await executeCommand("onloop.finish", entry.run_id), 0);
  equal((await newest(BLOCKED)).entry.outcome, "merged");
  equal(await read(at("asked.txt")), "please\n");
});

test("a workflow is a task", async () => {
  const tasks = await vscode.tasks.fetchTasks({ type: "onloop" });
  equal(tasks.map(({ name }) => name).sort(), ["blocked", "colours", "greet"]);
  const task = tasks.find(({ name }) => name === "greet");
  const ended = new Promise((resolve) => vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => execution.task.name === "greet" && resolve(exitCode)));
  await vscode.tasks.executeTask(task);
  equal(await ended, 3);
});

test("a file below .ai/workflows is a workflow", async () => {
  const document = await open(".ai/workflows/colours.md");
  const symbols = await executeCommand("vscode.executeDocumentSymbolProvider", document.uri);
  ok(symbols.some(({ name }) => name === "Step 1: Describe the limit in tests"), symbols.map(({ name }) => name).join());
});
