// Names, actions, waiting decisions and changes of runs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { load as loadCore } from "onloop";
import { temporaryFolder } from "../../test/support/temporary.mjs";
import { load } from "./support/modules.mjs";

const core = loadCore();
const runs = await load("runs");
const { waiting } = await load("waiting");
const { changedFiles } = await load("patch");
const { problems } = await load("task_problems");
const { runProgram, stop } = await load("run_program");
const { readBoard, describeSession } = await load("board");
const { hasOnloopFiles } = await load("startup");

for (const name of Object.keys(process.env)) if (/^(ONLOOP|HOTL|GIT)_/.test(name)) delete process.env[name];
const state = temporaryFolder("onloop-vscode-state-");
process.env.ONLOOP_STATE_HOME = state;
const folders = [state];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

const PID = 7;
const US = { pid: PID, host: "here", live: true, role: "embedded" };

function run(entry, action, step = 2) {
  const base = { run_id: "greet-1", status: "running", current_step: 2, total_steps: 3, state_file: "s", run_root: "/r" };
  const advice = action && { run_id: "greet-1", status: "running", action, step, command: null };
  return { entry: { ...base, ...entry }, advice };
}

test("a run has the name of its workflow", () => {
  const table = [
    ["/w/hotl-workflow-greet.md", "greet"],
    ["docs/plans/2026-03-20-add-limits-workflow.md", "add-limits"],
    ["C:\\w\\hotl-workflow-a.md", "a"],
    ["/w/.ai/workflows/release.md", "release"],
    ["/w/hotl-workflow-.md", "hotl-workflow-"],
    ["/w/workflow.md", "workflow"],
  ];
  for (const [file, name] of table) assert.equal(runs.workflowName(file), name, file);
  assert.equal(runs.label(run({ source_workflow_path: "/w/hotl-workflow-a.md", workflow_path: "/x/hotl-workflow-b.md" })), "a");
  assert.equal(runs.label(run({})), "greet-1");
});

test("ages are rounded for people", () => {
  const now = Date.parse("2026-03-20T12:00:00Z");
  const age = (moment) => runs.age(moment, now);
  assert.equal(age("2026-03-20T11:59:30Z"), "now");
  assert.equal(age("2026-03-20T13:00:00Z"), "now");
  assert.equal(age("2026-03-20T11:55:00Z"), "5 min");
  assert.equal(age("2026-03-20T02:00:00Z"), "10 h");
  assert.equal(age("2026-03-18T11:00:00Z"), "2 d");
  assert.equal(age(undefined), undefined);
  assert.equal(age("soon"), undefined);
});

test("the actions for a run depend on its driver", () => {
  const table = [
    [run({}), "run resumable readable open"],
    [run({ driven_by: US }), "run stoppable readable"],
    [run({ driven_by: { ...US, pid: 9, role: null } }), "run stoppable readable"],
    // Another window or server has other work, and another machine cannot be reached.
    [run({ driven_by: { ...US, pid: 9 } }), "run readable"],
    [run({ driven_by: { ...US, pid: 9, role: null, live: false, host: "elsewhere" } }), "run readable"],
    [run({}, "ask-gate"), "run gate readable open"],
    [run({}, "ask-budget"), "run resumable readable open"],
    [run({ status: "interrupted" }), "run resumable readable open"],
    [run({ status: "blocked", branch: "b", worktree_path: "/t" }), "run blocked finishable readable open worktree"],
    [run({ status: "blocked", outcome: "discarded", branch: "b", worktree_path: "/t" }), "run readable"],
    [run({ status: "completed", branch: "b", worktree_path: "/t" }), "run finishable readable worktree"],
    [run({ status: "completed", branch: "b", outcome: "merged", worktree_path: "/t" }), "run readable"],
    [run({ status: "completed", branch: "b", outcome: "kept" }), "run finishable readable"],
    [run({ status: "completed" }), "run readable"],
    [run({ status: "untrusted" }), "run untrusted"],
    [run({ status: "unreadable", error: "e" }), "run"],
  ];
  for (const [one, words] of table) assert.equal(runs.context(one, PID), words, JSON.stringify(one));
});

test("waiting decisions come first", () => {
  const gate = run({ run_id: "a-1", source_workflow_path: "/w/hotl-workflow-a.md", last_update: "2026-03-20T11:00:00Z" }, "ask-gate");
  const budget = run({ run_id: "b-1" }, "ask-budget");
  const works = run({ run_id: "c-1", driven_by: US }, "act");
  const call = { id: "c9", session: "s", folder: "/w", tool: "Bash", target: "rm x\nrm y", complete: true, reason: "r", since: "2026-03-20T10:00:00Z" };
  const found = waiting([gate, budget, works], [call]).map(({ title, detail, command, argument }) => [title, detail, command, argument]);
  assert.deepEqual(found, [
    ["a", "Waiting for you at step 2", "onloop.gate", "a-1"],
    ["b-1", "the run reached a limit", "onloop.resume", "b-1"],
    ["Bash", "rm x", "onloop.call", "c9"],
  ]);
  const [first] = waiting([gate], []);
  assert.notEqual(first.key, waiting([{ ...gate, advice: { ...gate.advice, step: 3 } }], [])[0].key);
  assert.deepEqual(runs.inOrder([works, gate]).map(({ entry }) => entry.run_id), ["a-1", "c-1"]);
});

test("a patch of git has the blobs before and after", () => {
  const folder = realpathSync(temporaryFolder("onloop-vscode-"));
  folders.push(folder);
  const git = (...words) => execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.invalid", ...words], { cwd: folder, encoding: "utf8" });
  const write = (name, text) => writeFileSync(join(folder, name), text);
  git("init", "--quiet");
  write("changed.txt", "1\n");
  write("gone.txt", "2\n");
  write("a b-c", "3\n");
  write("moved.txt", "4\n".repeat(20));
  write("binary", "\0\x01");
  git("add", "--all");
  git("commit", "--quiet", "--message=Begin");
  write("changed.txt", "--- a/x\n+++ b/y\ndiff --git a/z b/z\n");
  rmSync(join(folder, "gone.txt"));
  write("a b-c", "33\n");
  write("größe.txt", "5\n");
  write("empty", "");
  rmSync(join(folder, "moved.txt"));
  write("elsewhere.txt", `${"4\n".repeat(20)}5\n`);
  write("binary", "\0\x02");
  git("add", "--all");
  const found = changedFiles(git("diff", "--cached", "--find-renames"));
  const blob = (name) => git("cat-file", "blob", name);
  const shown = found.map(({ path, before, after }) => [path, before && blob(before), after && blob(after)]);
  assert.deepEqual(shown, [
    ["a b-c", "3\n", "33\n"],
    ["changed.txt", "1\n", "--- a/x\n+++ b/y\ndiff --git a/z b/z\n"],
    ["elsewhere.txt", "4\n".repeat(20), `${"4\n".repeat(20)}5\n`],
    ["empty", undefined, ""],
    ["gone.txt", "2\n", undefined],
    ["größe.txt", undefined, "5\n"],
  ]);
  assert.deepEqual(changedFiles("nothing of git"), []);
});

const BLOCKED = `---
intent: Greet
success_criteria: There is a greeting
risk_level: low
---
- [ ] **Step 1: Greet**
action: Write greeting.txt.
loop: false
verify: test -s nothing.txt

\`\`\`sh
true
\`\`\`
`;

function workspace(text) {
  const folder = realpathSync(temporaryFolder("onloop-vscode-"));
  folders.push(folder);
  const file = join(folder, "hotl-workflow-greet.md");
  writeFileSync(file, text);
  return { folder, file };
}

test("a blocked step is a problem at its title, and its checks have results", async () => {
  const { folder, file } = workspace(BLOCKED);
  const ended = await runProgram(core, { folder, argv: ["run", file, "--agent", "script", "--mode", "none"] });
  assert.equal(ended.exit, 1, ended.notes);
  const { result } = await runProgram(core, { folder, argv: ["status", ended.runId, "--json"] });
  const view = JSON.parse(result);
  const line = problems(core, file, BLOCKED, view);
  assert.match(line, /^\/.*hotl-workflow-greet\.md:6:17: error: step 1, Greet: .+\n$/);
  const { contributes } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const [matcher] = contributes.problemMatchers;
  assert.deepEqual(new RegExp(matcher.pattern.regexp).exec(line.trim()).slice(1, 5), [file, "6", "17", "error"]);
  assert.deepEqual(view.steps[0].checks.map(({ what, result }) => [what, result]), [["command test -s nothing.txt", "failed"]]);
});

test("the state home alone tells that a folder has runs", async () => {
  const { folder, file } = workspace(BLOCKED);
  const env = { HOME: folder, ONLOOP_STATE_HOME: state };
  assert.equal(await hasOnloopFiles(folder, env), false);
  await runProgram(core, { folder, argv: ["run", file, "--agent", "script", "--mode", "none"] });
  rmSync(join(folder, ".hotl"), { recursive: true });
  assert.equal(await hasOnloopFiles(folder, env), true);
  assert.equal(await hasOnloopFiles(`${folder}/`, env), true);
  assert.equal(await hasOnloopFiles(folder, { HOME: folder }), false);
  const tasks = workspace(BLOCKED).folder;
  mkdirSync(join(tasks, ".ai"));
  writeFileSync(join(tasks, ".ai/PROGRESS.md"), "");
  assert.equal(await hasOnloopFiles(tasks, {}), true);
});

test("a job is stopped by the id of its run", async () => {
  const { folder, file } = workspace(BLOCKED.replace("true", "exec sleep 600"));
  let begun;
  const doing = new Promise((resolve) => (begun = resolve));
  const ending = runProgram(core, { folder, argv: ["run", file, "--agent", "script", "--mode", "none"], listener: { doing: begun } });
  await doing;
  const { result } = await runProgram(core, { folder, argv: ["status", "--all", "--json"] });
  const [entry] = JSON.parse(result);
  assert.deepEqual([entry.driven_by.pid, entry.driven_by.role, entry.driven_by.live], [process.pid, "embedded", true]);
  assert.ok(runs.isStoppable({ entry }, process.pid));
  assert.equal(stop("nothing-1"), false);
  assert.equal(stop(entry.run_id), true);
  const ended = await ending;
  assert.deepEqual([ended.exit, ended.runId], [130, entry.run_id]);
  assert.equal(stop(entry.run_id), false);
  const after = JSON.parse((await runProgram(core, { folder, argv: ["status", "--all", "--json"] })).result);
  assert.equal(after[0].driven_by, null);
});

test("the board of this machine is read, and a session is described in a line", async () => {
  const { folder } = workspace(BLOCKED);
  assert.deepEqual(await readBoard(core, folder), { sessions: [], calls: [] });
  const now = Date.parse("2026-03-20T12:00:00Z");
  const session = { activity: "waits", now: "a call", workflow: "ultra-planner", changed_at: "2026-03-20T11:00:00Z" };
  assert.equal(describeSession(session, now), "ultra-planner · Waiting for you: a call · 1 h");
});

test("the table of texts has exactly the texts of the manifest", () => {
  const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
  const used = new Set([...read("package.json").matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key));
  assert.deepEqual([...used].sort(), Object.keys(JSON.parse(read("package.nls.json"))).sort());
});

test("menus and texts name only existing commands", () => {
  const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
  const { contributes } = JSON.parse(read("package.json"));
  const there = contributes.commands.map(({ command }) => command);
  const named = JSON.stringify([contributes.menus, contributes.walkthroughs, JSON.parse(read("package.nls.json"))]);
  for (const [command] of named.matchAll(/\bonloop\.(?!canRun|runs\b|waiting|sessions|tasks|has|agent|runIn|exec|chat|onloop)\w+/g)) {
    assert.ok(there.includes(command), command);
  }
});
