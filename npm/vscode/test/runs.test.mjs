// Runs and programs of the extension, with the real core on real files.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync, rmSync, watch, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { load as loadCore } from "onloop";
import { isAlive } from "../../test/support/process.mjs";
import { temporaryFolder } from "../../test/support/temporary.mjs";
import { load } from "./support/modules.mjs";

const core = loadCore();
const { runProgram, endAll } = await load("run_program");
const { Store } = await load("store");
const { lenses } = await load("lenses");
const runs = await load("runs");
const gate = await load("gate");
const { lastLines, withCarriageReturns, plain, escapeInvisible } = await load("text");

// Isolates the tests from the person who runs them.
for (const name of Object.keys(process.env)) if (/^(ONLOOP|HOTL|GIT)_/.test(name)) delete process.env[name];
const state = temporaryFolder("onloop-vscode-state-");
process.env.ONLOOP_STATE_HOME = state;
const folders = [state];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const GATED = `---
intent: Greet
success_criteria: There is a greeting
risk_level: low
---
- [ ] **Step 1: Greet**
action: Write greeting.txt.
loop: false
verify: test -s greeting.txt

\`\`\`sh
echo hello > greeting.txt
\`\`\`

- [ ] **Step 2: Look**
action: Look at it.
loop: false
gate: human
`;

function workspace(text = GATED) {
  const folder = realpathSync(temporaryFolder("onloop-vscode-"));
  folders.push(folder);
  const file = join(folder, "hotl-workflow-greet.md");
  writeFileSync(file, text);
  return { folder, file };
}

function commit(folder) {
  const person = ["-c", "user.name=T", "-c", "user.email=t@example.invalid"];
  const git = (...words) => execFileSync("git", [...person, ...words], { cwd: folder });
  git("init", "--quiet");
  git("add", "--all");
  git("commit", "--quiet", "--message=Begin");
}

const RUN = ["--agent", "script", "--mode", "none"];

test("a run is driven, shown, decided and resumed", async () => {
  const { folder, file } = workspace();
  const doing = [];
  const notes = [];
  const listener = { doing: (label) => doing.push(label), note: (text) => notes.push(text) };
  const paused = await runProgram(core, { folder, argv: ["run", file, ...RUN], listener });
  assert.equal(paused.exit, 3, paused.notes);
  assert.equal(doing[0], "Step 1: Greet");
  // Other runs may wait as well; the offered gate is that of the ended run.
  const other = await runProgram(core, { folder, argv: ["run", file, "--fresh", ...RUN] });
  assert.notEqual(other.runId, paused.runId);
  const both = new Store(core);
  await both.refresh([folder]);
  assert.deepEqual([paused, other].map(({ runId }) => runs.waitingGate(both.find(runId).run)), [2, 2]);
  assert.equal((await runProgram(core, { folder, argv: ["abandon", other.runId, "--reason=x"] })).exit, 0);
  assert.equal(notes.join("").replace(/\x1b\[[0-9;]*m/g, ""), paused.notes);
  assert.doesNotMatch(paused.notes, /\x1b/);

  const store = new Store(core);
  await store.refresh([folder]);
  const { run } = store.find(paused.runId);
  assert.equal(runs.waitingGate(run), 2);
  assert.equal(runs.describe(run), "Waiting for you at step 2");
  assert.equal(runs.context(run, process.pid), "run gate readable open");
  assert.ok(existsSync(runs.reportPath(run.entry)), `${runs.reportPath(run.entry)} ${paused.notes}`);
  const outline = core.outline(file, GATED);
  const shown = async () => {
    const found = runs.runsOf(store.runs(), file);
    const lines = lenses(outline, file, found, await store.view(found[0]));
    return lines.map(({ offset, title, command }) => `${offset} ${title} ${command}`);
  };
  const [first, second] = outline.steps.map(({ span }) => span.start);
  assert.deepEqual(await shown(), [
    "0 $(play) Run onloop.run",
    "0 $(output) Waiting for you at step 2 onloop.report",
    `${first} $(pass) Done onloop.report`,
    `${second} $(bell-dot) Waiting for you onloop.report`,
    `${second} $(check) Approve… onloop.gate`,
    `${second} $(close) Reject… onloop.gate`,
  ]);

  const id = run.entry.run_id;
  const { asks } = await store.view(run);
  assert.match(gate.detail(asks, id), /^Step 2 of 2: [^\n]+ \(risk: low\)\n[^]*\n\nRun greet-[^]*The record will say/);
  const decide = async (seen) => runProgram(core, { folder, argv: gate.decisionWords(id, { ...asks, seen }, "approved") });
  const late = await decide("0".repeat(64));
  assert.deepEqual([late.exit, late.notes], [1, "error: the run has changed since; look at it again. Nothing is decided\n"]);
  assert.equal((await decide(asks.seen)).exit, 0);
  const ledger = readFileSync(join(state, "runs", id, "ledger.jsonl"), "utf8");
  assert.equal(ledger.split('"channel":"editor"').length, 2, ledger);
  await store.refresh([folder]);
  assert.equal((await store.view(store.find(id).run)).asks, undefined);
  assert.equal(runs.context(store.find(id).run, process.pid), "run resumable readable open");
  assert.equal((await shown())[1], "0 $(debug-continue) Resume onloop.resume");
  assert.equal((await runProgram(core, { folder, argv: ["resume", id, "--agent", "script"] })).exit, 0);
  await store.refresh([folder]);
  assert.equal(runs.describe(store.find(id).run), "Completed");
  assert.ok((await shown()).includes(`${second} $(pass) Approved onloop.report`));
});

test("an approval at high risk needs the name of the step, and a rejection has a reason", () => {
  const asks = { step: 2, question: "q", is_gate: true, type_name: "Ship it", facts: null, seen: "ab" };
  assert.deepEqual(["Ship it ", "ship it", "", "yes"].map((typed) => gate.isNamed(asks, typed)), [true, false, false, false]);
  assert.ok(gate.isNamed({ ...asks, type_name: null }, ""));
  const words = (decision) => gate.decisionWords("a-1", asks, decision).join(" ");
  assert.equal(words("approved"), "gate 2 approved --run-id a-1 --seen ab");
  assert.equal(words({ reject: " --why " }), "gate 2 rejected --reason=--why --run-id a-1 --seen ab");
  assert.equal(words({ redo: "--no" }), "gate 2 rejected --redo --reason=--no --run-id a-1 --seen ab");
  assert.deepEqual(gate.offered("rejected"), ["Request Changes…", "Reject…", "Show Changes"]);
});

test("a cancelled run is interrupted, recorded and can be resumed", async () => {
  const script = "```sh\n: > started\nexec sleep 600\n```\n";
  const { folder, file } = workspace(GATED.replace(/```sh[^`]*```\n/, script));
  const controller = new AbortController();
  const job = { folder, argv: ["run", file, ...RUN], signal: controller.signal };
  job.listener = { doing: () => controller.abort() };
  const ended = await runProgram(core, job);
  assert.equal(ended.exit, 130, ended.notes);
  const store = new Store(core);
  await store.refresh([folder]);
  assert.equal(runs.isResumable(store.runs()[0]), true);
});

test("closing the window interrupts running programs", async () => {
  const { folder, file } = workspace(GATED.replace("echo hello", "sleep 600; echo hello"));
  let begun;
  const doing = new Promise((resolve) => (begun = resolve));
  const run = runProgram(core, { folder, argv: ["run", file, ...RUN], listener: { doing: begun } });
  await doing;
  await endAll();
  assert.equal((await run).exit, 130);
});

test("closing the window ends a hanging git", async () => {
  const { folder, file } = workspace(GATED.slice(0, GATED.indexOf("- [ ] **Step 2")));
  const aside = realpathSync(temporaryFolder("onloop-vscode-"));
  folders.push(aside);
  commit(folder);
  const git = (...words) => execFileSync("git", words, { cwd: folder });
  git("init", "--quiet", "--bare", join(aside, "remote.git"));
  git("remote", "add", "origin", join(aside, "remote.git"));
  // The hook existed at the start of the run, so git runs it.
  writeFileSync(join(folder, ".git/hooks/pre-push"), `#!/bin/sh\necho $$ > '${aside}/hangs'\nexec sleep 600\n`, { mode: 0o755 });
  const run = await runProgram(core, { folder, argv: ["run", file, "--agent", "script", "--mode", "branch"] });
  assert.equal(run.exit, 0, run.notes);
  const watcher = watch(aside);
  const hangs = new Promise((resolve) => watcher.on("change", () => existsSync(join(aside, "hangs")) && resolve()));
  const finish = runProgram(core, { folder, argv: ["finish", run.runId, "publish"] });
  await Promise.race([hangs, finish]);
  watcher.close();
  await endAll();
  const { exit, notes } = await finish;
  assert.equal(exit, 130, notes);
  assert.equal(isAlive(Number(readFileSync(join(aside, "hangs"), "utf8"))), false);
});

test("the editor's variables are not passed to other programs", async () => {
  const { folder } = workspace();
  process.env.VSCODE_TEST_VARIABLE = process.env.ELECTRON_RUN_AS_NODE = "1";
  try {
    const file = join(folder, "hotl-workflow-env.md");
    const script = 'echo "${VSCODE_TEST_VARIABLE-none} ${ELECTRON_RUN_AS_NODE-none}" > greeting.txt';
    writeFileSync(file, GATED.replace("echo hello > greeting.txt", script));
    await runProgram(core, { folder, argv: ["run", file, ...RUN] });
    assert.equal(readFileSync(join(folder, "greeting.txt"), "utf8"), "none none\n");
  } finally {
    delete process.env.VSCODE_TEST_VARIABLE;
    delete process.env.ELECTRON_RUN_AS_NODE;
  }
});

test("a damaged record is shown as unreadable", async () => {
  const { folder, file } = workspace();
  await runProgram(core, { folder, argv: ["run", file, ...RUN] });
  const store = new Store(core);
  await store.refresh([folder]);
  const { run_id: id } = store.runs()[0].entry;
  writeFileSync(join(state, "runs", id, "ledger.jsonl"), "{\n");
  await store.refresh([folder]);
  const [run] = store.runs();
  assert.equal(runs.icon(run).name, "warning");
  assert.equal(runs.context(run, process.pid), "run");
  assert.notEqual(runs.describe(run), "");
  assert.equal(await store.view(run), undefined);
});

test("a run in a worktree belongs to the file that started it", async () => {
  const { folder, file } = workspace();
  commit(folder);
  const ended = await runProgram(core, { folder, argv: ["run", file, "--agent", "script"] });
  assert.equal(ended.exit, 3, ended.notes);
  const store = new Store(core);
  await store.refresh([folder]);
  const [run] = runs.runsOf(store.runs(), file);
  folders.push(run.entry.run_root);
  assert.notEqual(run.entry.run_root, folder);
});

test("the documentation shows the output of a run", async () => {
  const page = readFileSync(new URL("../../../docs/vscode.md", import.meta.url), "utf8");
  const workflow = /^````markdown\n([^]*?)^````$/m.exec(page)[1];
  const session = /^```text\n(\$ onloop run [^]*?)^```$/m.exec(page)[1];
  const { folder, file } = workspace(workflow);
  commit(folder);
  const shown = [];
  const play = async (argv) => {
    const ended = await runProgram(core, { folder, argv });
    shown.push(`$ onloop ${argv.join(" ")}\n${ended.notes}${ended.result}\n`);
    return ended;
  };
  await play(["run", basename(file), "--agent", "script"]);
  const store = new Store(core);
  await store.refresh([folder]);
  const { run_id: id, run_root: root } = store.runs()[0].entry;
  folders.push(root);
  await runProgram(core, { folder, argv: ["gate", "2", "approved", "--run-id", id] });
  await play(["resume", id, "--agent", "script"]);
  const place = "/tmp/.hotl-worktrees/greet/hotl-greet";
  const expected = shown.join("").replaceAll(root, place).replaceAll(id, "greet-20260320T212315Z");
  const sorted = (text) => text.split("\n").filter((line) => !/^(\[exit.*|)$/.test(line)).sort();
  // The order of the two output streams is not fixed.
  assert.deepEqual(sorted(session), sorted(expected));
});

test("the extension has the version of its package", () => {
  const version = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")).version;
  assert.equal(version("../package.json"), version("../../package.json"));
  assert.equal(version("../package.json"), core.version());
});

test("text is prepared for terminals, messages and dialogs", () => {
  assert.equal(withCarriageReturns("a\nb\r\nc"), "a\r\nb\r\nc");
  assert.equal(lastLines("\n a\n\n  b\x07\n", "result"), "a · b");
  assert.equal(lastLines("", "result\n"), "result");
  assert.equal(lastLines("[a](command:b)", ""), "[a] (command:b)");
  assert.equal(plain("a\nb\x1b[1m"), "ab[1m");
  assert.equal(lastLines("y".repeat(1000), "").length, 400);
  assert.equal(escapeInvisible("a\n\tb\r\x1b[1m\u202ec"), "a\n\tb\\u{d}\\u{1b}[1m\\u{202e}c");
});
