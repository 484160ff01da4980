// Whole runs, by commands and by tools. The page clicks where a person has to.

import * as vscode from "vscode";
import { at, equal, extension, ok, open, read, refusal, test, until } from "./harness.js";

export { activate } from "./harness.js";

const FILE = "hotl-workflow-greet.md";

async function lenses(document) {
  const found = await vscode.commands.executeCommand("vscode.executeCodeLensProvider", document.uri);
  return found.map(({ command, range }) => `${range.start.line} ${command.title.replace(/^\$\([\w-]+\) /, "")}`);
}

async function use(name, input = {}) {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
  return content.map(({ value }) => value).join("");
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

test("tools answer from the record", async () => {
  ok((await use("onloop_lint", { file: FILE })).startsWith("exit 0"), "lint");
  ok((await use("onloop_status")).includes('"status": "paused"'), "status");
  ok((await use("onloop_next")).includes('"action": "ask-gate"'), "next");
  const { entry } = await isNow("paused");
  const report = await use("onloop_report", { run_id: entry.run_id });
  ok(report.includes("Write it"), report);
  const step = await use("onloop_step", { step: 2, action: "retry" });
  ok(step.startsWith("exit 1"), step);
  const names = vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith("onloop_"));
  equal(names.sort(), ["gate", "lint", "next", "report", "run", "status", "step"].map((name) => `onloop_${name}`));
});

test("a gate needs a person's confirmation", async () => {
  const decision = { step: 2, decision: "rejected" };
  await refusal(use("onloop_gate", decision));
  const { advice } = await isNow("paused");
  equal(advice.action, "ask-gate");
});

test("a person confirms, and the record says so", async () => {
  const said = await use("onloop_gate", { step: 2, decision: "approved" });
  ok(said.includes("gate 2: approved (human)"), said);
});

test("the run is resumed and completed", async () => {
  const { entry } = await isNow("running");
  equal(await vscode.commands.executeCommand("onloop.resume", entry.run_id), 0);
  await isNow("completed");
  await vscode.commands.executeCommand("onloop.record", entry.run_id);
  const record = JSON.parse(vscode.window.activeTextEditor.document.getText());
  equal(record.status, "completed");
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
