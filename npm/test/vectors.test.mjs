// The vectors that the native program is tested with, through the package: first that its answers
// are the native ones, byte for byte, then that the functions say what the programs print.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { here } from "./support/here.mjs";
import * as workspace from "./support/workspace.mjs";
import { built, folder, npmFolder, repository } from "./support/workspace.mjs";

const NATIVE = [built("ONLOOP_TEST_NATIVE")];
const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];
const core = load();

const vectors = (name) => readFileSync(join(repository, "tests/vectors", name), "utf8");
const lines = (text) => text.split("\n").filter((line) => line !== "");
/** Without the members that the answer lacks. */
const pick = (object, ...names) => Object.fromEntries(names.map((name) => [name, object[name]]));

/** The answer of the package, which must equal that of the native program. */
function answered(t, words, input) {
  const cwd = folder(t);
  const env = workspace.environment(cwd);
  const options = { cwd, env, input, maxBuffer: 1 << 26 };
  const native = workspace.run(NATIVE, words, options);
  assert.deepEqual(workspace.run(PACKAGE, words, options), native);
  assert.equal(native.exit, 0, native.stderr);
  return native.stdout;
}

for (const name of ["permissions.jsonl", "permissions-own.jsonl"]) {
  test(`the calls of ${name} are decided the same`, (t) => {
    const calls = lines(vectors(name));
    const rulings = lines(answered(t, ["permit", "batch"], vectors(name))).map(JSON.parse);
    assert.equal(rulings.length, calls.length);
    assert.ok(calls.length > 300);
    for (const [at, line] of calls.entries()) {
      const call = { cwd: "/srv/repo", ...JSON.parse(line) };
      const ruling = core.decide(call);
      // Without a folder in the vector the program uses its own, which may give another decision.
      if (JSON.parse(line).cwd) assert.deepEqual({ id: call.id, ...ruling }, rulings[at], call.id);
      const explained = core.explain(call);
      assert.deepEqual(pick(explained, "decision", "rule", "reason"), ruling, call.id);
      const met = call.expected === "not-allow" ? ruling.decision !== "allow" : ruling.decision === call.expected;
      assert.ok(met || call.strict === false, `${call.id}: ${JSON.stringify(ruling)}`);
    }
  });
}

test("an invalid call is refused with the same message, and throws", (t) => {
  const input = ['{"id":1}', "[]", "nonsense", '{"id":2,"tool":"Bash","cwd":"relative"}', '{"tool":"\\ud83d"}', ""].join("\n");
  const refusals = lines(answered(t, ["permit", "batch"], input)).map(JSON.parse);
  assert.equal(refusals.length, 5);
  for (const { error } of refusals) assert.equal(typeof error, "string");
  assert.throws(() => core.decide({ tool: "Bash", input: { command: "ls" } }), /^TypeError: `call\.cwd` is missing, expected a string$/);
  assert.throws(() => core.decide({ cwd: "/w" }), /^TypeError: `call\.tool` is missing, expected a string$/);
  // Text that no command line can hold is an error.
  assert.throws(() => core.decide({ tool: "Bash", cwd: "/w", input: { command: "ls \ud800" } }), Error);
});

test("trust depends on the content of a file", () => {
  const yaml = "permissions:\n  allow:\n    - '^make deploy$'\n";
  const list = core.setTrusted("# mine\n", yaml, true);
  assert.match(list, /^[0-9a-f]{64}\n$/);
  assert.ok(core.isTrusted(list, yaml));
  assert.ok(!core.isTrusted(list, `${yaml}\n`));
  assert.equal(core.setTrusted(list, yaml, false), "");
});

test("prompts start the sessions of session-commands.jsonl", () => {
  const cases = lines(vectors("session-commands.jsonl")).map(JSON.parse);
  assert.ok(cases.length > 40);
  const nothing = { workflow: null, issue_no: null, pr_no: null };
  for (const { id, prompt, expected } of cases) {
    assert.deepEqual(core.startedBy(prompt) ?? nothing, expected, id);
  }
});

test("the runs of auto.jsonl are simulated the same", (t) => {
  const scenarios = lines(vectors("auto.jsonl")).map(JSON.parse);
  const rehearsals = lines(answered(t, ["auto", "rehearse"], vectors("auto.jsonl"))).map(JSON.parse);
  assert.equal(rehearsals.length, scenarios.length);
  assert.ok(scenarios.length > 100);
  for (const [at, scenario] of scenarios.entries()) {
    const rehearsal = core.rehearse(scenario);
    assert.deepEqual(rehearsal, rehearsals[at]);
    const { expected } = scenario;
    assert.deepEqual(pick(rehearsal, "lines", "dispatches", "lock_present"), pick(expected, "lines", "dispatches", "lock_present"), scenario.id);
  }
  assert.throws(() => core.rehearse({ now: "noon" }), /expected an RFC 3339 time/);
});

test("every row of the routing table holds", () => {
  const rows = lines(vectors("auto-routing.tsv")).slice(1);
  assert.equal(rows.length, 448);
  for (const row of rows) {
    const [profile, ...cells] = row.split("\t");
    const [context, progress, active, ready, anyRow, summary, artifacts] = cells.map((cell) => cell === "1");
    const [marker, target, reason] = cells.slice(8);
    const tasks = active ? "active" : anyRow ? "settled" : "none";
    const found = core.route(profile, { context, tasks: progress ? tasks : null, ready_feature: ready, artifacts, summary });
    if (target === "STOP(rw-planner)") {
      assert.equal(found.child, null, row);
      continue;
    }
    assert.deepEqual(found, { child: target === "done" ? null : target, marker: marker === "-" ? null : marker, reason }, row);
  }
});

test("rw-auto's files are read as the programs read them", () => {
  const corpus = join(repository, "tests/corpus/auto");
  for (const name of readdirSync(corpus)) {
    const text = readFileSync(join(corpus, name), "utf8");
    if (name.startsWith("feature")) {
      const { status, ready } = core.readFeature(text);
      assert.equal(ready, status === "READY_FOR_PLAN", name);
      continue;
    }
    const { rows, tasks, next, finished } = core.readProgress(text);
    assert.equal(tasks === "none", rows.length === 0, name);
    assert.ok(next === null || rows.some((row) => row.id === next.id), name);
    assert.equal(finished, rows.length > 0 && rows.every((row) => row.status === "completed"), name);
    // A run with exactly this file follows its tasks.
    const tree = { ".ai/CONTEXT.md": "x", ".ai/PROGRESS.md": text };
    const [first] = core.rehearse({ now: "2026-02-24T01:00:00Z", tree }).dispatches;
    const facts = { context: true, tasks, ready_feature: false, artifacts: false, summary: false };
    assert.equal(first?.target ?? null, core.route("v1", facts).child, name);
  }
  const table = "## Task Status\n\n| Task | Title | Status | Commit |\n| --- | --- | --- | --- |\n| TASK-01 | 日本 \u{1f600} | pending | - |\n";
  const changed = core.withTaskStatus(table, "TASK-01", "completed", "abc");
  assert.equal(changed, table.replace("| pending | - |", "| completed | abc |"));
  assert.equal(core.withTaskStatus(table, "TASK-02", "completed"), undefined);
  assert.throws(() => core.withTaskStatus(table, "TASK-01", "flying"), /^TypeError: `status` is "flying", expected `pending`, `in-progress`, `completed` or `blocked`$/);
});

test("saved states of every generation say the same", async (t) => {
  const states = join(repository, "tests/state");
  const names = readdirSync(states).filter((name) => name.endsWith(".json"));
  assert.ok(names.length >= 10);
  for (const name of names) {
    const cwd = folder(t);
    // The path differs: a moved run is shown at its new path.
    const saved = { ...JSON.parse(readFileSync(join(states, name), "utf8")), execution_root: cwd };
    const [id, record] = [saved.run_id, JSON.stringify(saved, null, 2)];
    const env = workspace.environment(cwd);
    workspace.write(cwd, { [`.hotl/state/${id}.json`]: record });
    assert.equal(workspace.run(NATIVE, ["adopt", id, "--yes"], { cwd, env }).exit, 0, name);
    const verbs = [
      ["next", "--json", "--run-id", id],
      ["report", id],
      ["summary", id, "--json"],
      ["summary", id, "--platform", "claude"],
      ["receipt", id, "--json"],
      ["status", id, "--json"],
      ["locate", "--all"],
    ];
    const said = {};
    for (const words of verbs) {
      const native = workspace.run(NATIVE, words, { cwd, env });
      assert.deepEqual(await here(words, cwd), native, `${name}: ${words}`);
      said[words.join(" ")] = native.stdout;
    }
    assert.deepEqual(core.receipt(record), JSON.parse(said[`receipt ${id} --json`]), name);
    assert.deepEqual(core.view(record), JSON.parse(said[`summary ${id} --json`]), name);
    assert.equal(core.report(record), said[`report ${id}`], name);
    assert.equal(core.summary(record, "claude").trimEnd(), said[`summary ${id} --platform claude`].trimEnd(), name);
  }
});
