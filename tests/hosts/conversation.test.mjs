// Conversations and runs, and the effect of a person's prompt on a goal, with the real clients.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testIf, testWithAll } from "../../npm/test/support/all.mjs";
import { claude, codex, machine, onloop } from "./clients.mjs";
import { after, LIMIT, subscribed } from "./limits.mjs";
import { continuations, FILE, withWorkflow } from "./runs.mjs";

/** An agent that prints different text every time and does nothing. */
function* talker() {
  for (;;) yield ({ turns }) => ({ say: `Here you are (${turns}).` });
}

for (const [client, words] of [[claude, []], [codex, [codex.trusted]]]) {
  testIf(client === codex)(`an unrelated conversation in ${client.name} is not affected by the run of another conversation`, async () => {
    const place = await withWorkflow(client);
    await onloop(place, "install", client.name);
    const id = (await onloop(place, "init", FILE)).trim();
    const drive = [{ run: `onloop step 1 start --run-id ${id}` }, ...Array(30).fill(({ turns }) => ({ say: `Done (${turns}).` }))];
    const driving = await client.session(place, drive, { words });
    assert.ok(continuations(driving.heard).length >= 2, JSON.stringify(driving.heard.told));
    const prompt = "explain the readme to me";
    const other = await client.session(place, talker(), { prompt, words });
    assert.equal(other.code, 0, JSON.stringify(other));
    assert.equal(other.heard.turns, 0, "it was asked once, and not sent on");
    assert.deepEqual(continuations(other.heard), []);
    const sessions = JSON.parse(await onloop(place, "session", "list", "--json"));
    assert.deepEqual(sessions.map(({ run_id }) => run_id), [id]);
  });
}

/** The counts of the continuations of `/ship`, the first lines of which are ours. */
const shipped = ({ told }) => told.map((text) => /automatic continuation (\d+)\/\d+ of `\/ship`/.exec(text)?.[1]).filter(Boolean);

/** A machine whose project has its own workflow command. */
async function withShip() {
  const place = machine(claude);
  mkdirSync(join(place.project, ".claude/commands"), { recursive: true });
  writeFileSync(join(place.project, ".claude/commands/ship.md"), "Ship issue $ARGUMENTS. Why wait?\n");
  writeFileSync(join(place.home, "ship.md"), "Is issue {#issue_no#} shipped? If not, go on.\n");
  const workflows = "handsoff:\n  workflows:\n    - { command: /ship, prompt_file: ship.md }\n";
  writeFileSync(join(place.home, ".agentize.local.yaml"), workflows);
  await onloop(place, "install", "claude");
  Object.assign(place.env, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "2" });
  return place;
}

test("in Claude Code an answer continues a goal, and a question pauses it", async () => {
  const place = await withShip();
  const say = (prompt, ...words) => claude.session(place, talker(), { prompt, words });
  const first = await say("/ship #5");
  assert.equal(first.code, 0, JSON.stringify(first));
  assert.deepEqual(shipped(first.heard), ["1", "2"], JSON.stringify(first.heard.told));
  assert.ok(first.heard.told.some((text) => text.includes("Is issue #5 shipped?")), JSON.stringify(first.heard.told));
  const { session_id: id } = JSON.parse(first.stdout);
  const answered = await say("yes, use option 2", "--resume", id);
  assert.deepEqual(shipped(answered.heard), ["1", "2", "3", "4"]);
  const asked = await say("explain the readme to me", "--resume", id);
  assert.deepEqual(shipped(asked.heard), ["1", "2", "3", "4"]);
  const [session] = JSON.parse(await onloop(place, "session", "list", "--json"));
  assert.deepEqual([session.status, session.paused_by, session.issue_no], ["paused", "question", 5]);
  const words = ["--resume", id, "--output-format", "stream-json", "--verbose"];
  const goneOn = await claude.session(place, talker(), { prompt: "continue please", words });
  assert.deepEqual(shipped(goneOn.heard), ["1", "2", "3", "4", "5", "6"]);
});

const STREAM = ["-p", "--permission-mode", "bypassPermissions", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];

/** The input of a person. */
const line = (content) => `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`;

test("after compaction the agent of Claude Code knows its goal and its state", async () => {
  const place = await withShip();
  const said = ["/ship #5", "/compact", "use option 2"];
  const talk = (place) => typed("claude", STREAM, place, said.map(line).join(""));
  const { code, heard } = await claude.served(place, talker(), talk);
  assert.equal(code, 0);
  const told = /this conversation was compacted\. It still works on `\/ship`, after 2 of 10 automatic continuations/;
  assert.match(heard.rules, told);
  assert.match(heard.rules, /Is issue #5 shipped\?/);
  assert.deepEqual(shipped(heard), ["3", "4"], "an instruction went on with it");
});

/** Runs a program that reads `input` to its end. */
function typed(program, words, { project, env }, input) {
  return new Promise((resolve) => {
    const options = { cwd: project, env, timeout: 240_000, maxBuffer: 1 << 26 };
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
    child.stdin.end(input);
  });
}

/** Types `input`, and waits until the client has ended a number of turns. */
function stayed(program, words, { project, env }, input, turns) {
  return new Promise((resolve) => {
    const child = spawn(program, words, { cwd: project, env, timeout: 120_000, stdio: ["pipe", "pipe", "inherit"] });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      if (stdout.split('"type":"result"').length > turns) child.stdin.end();
    });
    child.on("close", (code) => resolve({ code, stdout }));
    child.stdin.write(input);
  });
}

testWithAll("onloop waits for a limit of Claude Code, and its agent continues the goal", async () => {
  const place = subscribed(claude, await withShip());
  const s = 5;
  const refused = () => ({ fail: LIMIT.claude(s) });
  const script = [after(1, refused, { say: "Made." }), ...Array(10).fill(({ turns }) => ({ say: `Done (${turns}).` }))];
  const began = Date.now();
  const talk = (place) => stayed("claude", STREAM, place, line("/ship #5"), 2);
  const { code, stdout, heard } = await claude.served(place, script, talk);
  assert.equal(code, 0, stdout);
  assert.ok(Date.now() - began > s * 1000, stdout);
  const woken = heard.told.filter((text) => text.includes("The model's service is worth trying again, after "));
  assert.equal(woken.length, 1, JSON.stringify(heard.told));
  assert.match(woken[0], /the goal of `ship` is not reached yet \(0 continuations so far; this is none\)/);
  const now = await onloop(place, "session", "list", "--everywhere");
  assert.deepEqual(shipped(heard), ["1", "2"], `${now}${JSON.stringify(heard.told)}`);
});

test("a mistake in the configuration reaches the person in Claude Code", async () => {
  const place = machine(claude);
  await onloop(place, "install", "claude");
  writeFileSync(join(place.project, ".agentize.local.yaml"), "handsof: {enabled: true}\n");
  const words = ["--output-format", "stream-json", "--verbose", "--include-hook-events"];
  const { stdout } = await claude.session(place, talker(), { words });
  assert.equal(stdout.split("`handsof` is not known; did you mean `handsoff`?").length > 1, true, stdout);
});
