// Whole runs, by commands and on pages. The page clicks where a person has to.

import * as vscode from "vscode";
import { at, equal, extension, ok, open, read, test, until } from "./harness.js";

export { activate } from "./harness.js";

const FILE = "hotl-workflow-greet.md";

async function lenses(document) {
  const found = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri);
  return found.map(({ command, range }) => `${range.start.line} ${command.title.replace(/^\$\([\w-]+\) /, "")}`);
}

/** The state of the newest run, once it is `status`. */
async function isNow(wanted) {
  const api = await extension().activate();
  return until(
    api.onDidChangeRuns,
    async () => {
      const [run] = api.runs();
      return run?.entry.status === wanted ? run : undefined;
    },
    `a run that is ${wanted}`,
  );
}

test("a workflow that was not run can be run", async () => {
  const document = await open(FILE);
  const { onDidChangeRuns } = await extension().activate();
  const shown = async () => ((await lenses(document)).length > 0 ? lenses(document) : undefined);
  equal(await until(onDidChangeRuns, shown, "lenses"), ["0 Run"]);
});

test("a run goes up to the gate", async () => {
  equal(await vscode.commands.executeCommand("onloop.run", at(FILE)), 3);
  const { entry, advice } = await isNow("paused");
  equal([advice.action, advice.step], ["ask-gate", 2]);
  equal(await read(vscode.Uri.file(`${entry.run_root}/greeting.txt`)), "hello\n");
  ok(vscode.window.terminals.some(({ name }) => name === "onloop: greet"), "no terminal shows the run");
});

test("the gate stands above its step", async () => {
  const found = await lenses(await open(FILE));
  equal(found, ["0 Run", "0 Waiting for you at step 2", "5 Done", "15 Waiting for you", "15 Approve…", "15 Reject…"]);
});

test("a run is decided on its page, and continues in the background", async () => {
  // Where this is set, nothing starts a driver.
  delete process.env.CI;
  const { entry } = await isNow("paused");
  await isNow("completed");
  const ledger = await read(vscode.Uri.file(`${process.env.HOME}/.local/state/onloop/runs/${entry.run_id}/ledger.jsonl`));
  ok(ledger.includes('"channel":"editor"'), ledger);
  await vscode.commands.executeCommand("onloop.record", entry.run_id);
  const record = JSON.parse(vscode.window.activeTextEditor.document.getText());
  equal(record.status, "completed");
});

test("the dashboard shows it, and the tools of agents are those of a server", async () => {
  await vscode.commands.executeCommand("onloop.dashboard");
  const labels = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).map(({ label }) => label);
  // The page clicks on the run.
  await until(vscode.window.tabGroups.onDidChangeTabs, async () => (labels().filter((label) => label === "greet").length === 2 ? true : undefined), "the run in the dashboard");
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  equal(vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith("onloop")), []);
});

test("a run is approved and resumed by commands", async () => {
  equal(await vscode.commands.executeCommand("onloop.run", at("hotl-workflow-again.md")), 3);
  const { entry } = await isNow("paused");
  equal(await vscode.commands.executeCommand("onloop.gate", entry.run_id, "approved"), 0);
});

test("a run that is cancelled can be resumed", async () => {
  const exit = await vscode.commands.executeCommand("onloop.run", at("hotl-workflow-wait.md"));
  equal(exit, 130);
  const found = await lenses(await open("hotl-workflow-wait.md"));
  ok(found.includes("0 Resume"), found.join());
});

test("runs of others are seen as soon as they are on the disk", async () => {
  const api = await extension().activate();
  const [{ entry }] = api.runs().filter(({ entry }) => entry.status === "completed");
  const text = await read(vscode.Uri.file(entry.state_file));
  const id = "greet-20200101T000000Z";
  const copy = text.replaceAll(entry.run_id, id);
  await vscode.workspace.fs.writeFile(at(`.hotl/state/${id}.json`), new TextEncoder().encode(copy));
  await until(
    api.onDidChangeRuns,
    async () => api.runs().find(({ entry }) => entry.run_id === id),
    "the run of another program",
  );
});
