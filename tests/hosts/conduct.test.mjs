// `onloop run` with the real clients: they work in the worktree, their calls are decided without
// an installation, their usage is known to the token, and a retry continues their
// conversation.

import assert from "node:assert/strict";
import { chmodSync, copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testIf, testWithAll } from "../../npm/test/support/all.mjs";
import { claude, codex, opencode, run } from "./clients.mjs";
import { always, CLIENTS, conducted, FILE, kept, MAKE, repository, USED, used, workflow } from "./conducted.mjs";

always(CLIENTS, (name) => `${name} completes a run in its worktree, with known usage`, async (client, repository) => {
  const place = await repository(client);
  const before = readdirSync(place.project).sort();
  const script = used([{ run: "sh check.sh" }, { run: "echo made > made.txt" }, { run: "sh check.sh" }, { say: "It is made." }]);
  const { code, summary, stderr, told } = await conducted(client, place, script);
  assert.equal(code, 0, told);
  assert.equal(summary.status, "completed", told);
  // The first use of a client creates files, which must not count as an attack.
  assert.doesNotMatch(stderr, /put back/, told);
  assert.equal(readFileSync(join(summary.execution_root, "made.txt"), "utf8"), "made\n");
  assert.notEqual(summary.execution_root, place.project);
  const added = readdirSync(place.project).filter((name) => !before.includes(name));
  assert.deepEqual(added.filter((name) => name !== ".hotl-worktrees" && name !== ".hotl"), [], told);
  const [step] = summary.steps;
  const { cost_usd, ...tokens } = step.usage;
  assert.deepEqual(tokens, { input_tokens: 4000, cached_input_tokens: 1200, output_tokens: 200 }, told);
  assert.deepEqual(summary.usage, step.usage);
  assert.ok(client === claude ? cost_usd > 0 : cost_usd === null, told);
  assert.equal(step.agent, client.name);
  assert.equal(step.denied, 0, told);
  assert.match(step.session, /^[\w-]{8,}$/);
  const log = kept(place, summary, "logs/1-1.log");
  assert.match(log, /→ \w+: echo made > made\.txt\n/, log);
  assert.match(log, /^It is made\.$/m, log);
  assert.match(kept(place, summary, "logs/1-1.jsonl"), /It is made\./);
});

always(CLIENTS, (name) => `a call of ${name} that is denied does not run, and is reported and counted`, async (client, repository) => {
  const place = await repository(client);
  const script = used([{ run: "git stash drop; mkdir victim/denied" }, { run: "./unknown-program" }, { run: "echo made > made.txt" }, { say: "Done." }]);
  const { code, summary, heard, told } = await conducted(client, place, script, "--on-ask", "deny");
  assert.equal(code, 0, told);
  assert.ok(!existsSync(join(summary.execution_root, "victim/denied")), told);
  assert.match(heard.results[0], /onloop \(/, told);
  assert.match(heard.results[1], /nobody can be asked in this run/, told);
  assert.equal(summary.steps[0].denied, 2, told);
  const judged = kept(place, summary, "hooks/1-1.calls.jsonl").trimEnd().split("\n").map((line) => JSON.parse(line));
  // Every hook of a call decides the same. After a denial opencode runs no other hook.
  const decisions = new Map(judged.map(({ id, decision }) => [id, decision]));
  assert.deepEqual([...decisions.values()], ["deny", "deny", "allow"], told);
  assert.ok(judged.every(({ id, decision }) => decisions.get(id) === decision), told);
  // A run disables the user's hooks in Claude Code. In the other clients they follow the run.
  const isAsked = judged.some(({ by_installed }) => by_installed);
  assert.equal(isAsked, place.isInstalled === true && client !== claude, told);
}, CLIENTS);

always(CLIENTS, (name) => `a retry of ${name} continues its conversation, with the failed check`, async (client, repository) => {
  const place = await repository(client);
  const script = used([{ say: "It is made, I think." }, { run: "echo made > made.txt" }, { say: "Now it is." }]);
  const { code, summary, heard, told } = await conducted(client, place, script);
  assert.equal(code, 0, told);
  const [step] = summary.steps;
  assert.equal(step.attempts, 2, told);
  // Only the same conversation contains the earlier text of the model.
  assert.equal(heard.turns, 2, told);
  assert.match(heard.told.at(-1), /made\.txt is missing/, told);
  assert.doesNotMatch(heard.told.at(-1), /Goal of the whole work/);
  const { cost_usd, ...tokens } = step.usage;
  assert.deepEqual(tokens, { input_tokens: 3000, cached_input_tokens: 900, output_tokens: 150 }, told);
}, [codex]);

test("a line that the workflow file allows runs, and others like it do not", async () => {
  const place = await repository(claude, workflow(MAKE, "allow: [./make.sh *]\n"));
  writeFileSync(join(place.project, "make.sh"), "#!/bin/sh\necho \"$1\" > made.txt\n", { mode: 0o755 });
  const git = "git add -A && git -c user.name=me -c user.email=me@example.org commit -qm more";
  assert.equal((await run("sh", ["-c", git], place)).code, 0);
  const script = used([{ run: "./make.sh --odd" }, { run: "./make.sh one" }, { say: "Done." }]);
  const { code, summary, heard, told } = await conducted(claude, place, script, "--on-ask", "deny");
  assert.equal(code, 0, told);
  assert.equal(readFileSync(join(summary.execution_root, "made.txt"), "utf8"), "one\n");
  assert.equal(summary.steps[0].denied, 1, told);
  assert.match(heard.results[0], /nobody can be asked in this run/, told);
});

// These clients run calls without a hook, so onloop ends the turn.
for (const client of [codex, opencode]) {
  testIf(client === codex)(`a turn of ${client.name} whose calls no hook decides is ended`, async () => {
    const place = await repository(client, workflow(MAKE.replace("max_iterations: 3", "max_iterations: 1")));
    const program = join(place.home, "onloop");
    copyFileSync(place.bin, program);
    const mute = (place) => {
      // opencode's plugin denies calls without an answer of the hook, so the plugin is removed.
      const env = client === opencode ? { ...place.env, OPENCODE_PURE: "1" } : place.env;
      return run(program, ["run", FILE, "--agent", client.name, "--json"], { ...place, env });
    };
    // The sandbox keeps a program that is removed, so that the program loses its right to run.
    const disable = () => {
      chmodSync(program, 0o600);
      return { run: "echo made > made.txt" };
    };
    const script = [disable, { run: "sleep 3; echo still here" }, { say: "It is made." }];
    const ended = await client.served(place, script, mute);
    const told = JSON.stringify(ended, undefined, 1);
    assert.equal(ended.code, 1, told);
    assert.match(ended.stderr, /used tools without asking onloop/, told);
  });
}

always([codex, opencode], (name) => `a turn of ${name} above its token limit is ended`, async (client, repository) => {
  const place = await repository(client, workflow(MAKE, "max_tokens: 2500\n"));
  const script = Array(30).fill({ run: "sleep 0.7", usage: USED });
  const { code, heard, stderr, told } = await conducted(client, place, script);
  assert.equal(code, 3, told);
  assert.ok(heard.turns < 15, told);
  assert.match(stderr, /Budget reached: max_tokens is 2500 \(used: \d+\)/, told);
  assert.match(stderr, /max_tokens/, told);
});

test("the cost of Codex is estimated by the user's prices, and marked", async () => {
  const prices = "{ input: 2, cached_input: 0.2, output: 8 }";
  const place = await repository(codex, workflow(MAKE, "max_cost_usd: 1\n"));
  writeFileSync(join(place.home, ".agentize.local.yaml"), `prices:\n  as_of: 2026-10-01\n  fake: ${prices}\n`);
  const script = used([{ run: "echo made > made.txt" }, { say: "Done." }]);
  const { code, summary, told } = await conducted(codex, place, script);
  assert.equal(code, 0, told);
  // 1400 fresh, 600 cached and 100 written tokens.
  assert.deepEqual(summary.usage, {
    input_tokens: 2000,
    cached_input_tokens: 600,
    output_tokens: 100,
    cost_usd: 0.00372,
    cost_estimated_as_of: "2026-10-01",
  });
  const report = readFileSync(join(summary.execution_root, summary.report_path), "utf8");
  assert.match(report, /\| 1 \| 1 \| codex \| fake \| 2000 \| 600 \| 100 \| 0\.00372 \(estimated, prices of 2026-10-01\) \| 0 \| completed \|/);
});

testWithAll("sub-agents of opencode are counted, and their calls are seen", async () => {
  const place = await repository(opencode);
  const task = { tool: "task", input: { description: "d", prompt: "p", subagent_type: "general" } };
  const call = { run: "echo made > made.txt" };
  // The sub-agent has its own conversation, with the first turn again.
  let begun = 0;
  const script = used([{}, { say: "Done." }]);
  script[0] = () => ({ ...(begun++ === 0 ? task : call), usage: USED });
  const { code, summary, told } = await conducted(opencode, place, script);
  assert.equal(code, 0, told);
  const { cost_usd, ...tokens } = summary.steps[0].usage;
  assert.deepEqual(tokens, { input_tokens: 4000, cached_input_tokens: 1200, output_tokens: 200 }, told);
  assert.match(kept(place, summary, "logs/1-1.log"), /→ bash: echo made > made\.txt/);
});

testWithAll("every attempt starts a new conversation on request", async () => {
  const place = await repository(claude);
  const made = (heard) => heard.told.join().includes("missing");
  const script = used([{}, { say: "Done." }]);
  script[0] = (heard) => ({ ...(made(heard) ? { run: "echo made > made.txt" } : { say: "Done?" }), usage: USED });
  const { code, summary, heard, told } = await conducted(claude, place, script, "--fresh-session");
  assert.equal(code, 0, told);
  assert.equal(summary.steps[0].attempts, 2, told);
  assert.match(heard.told.join(), /Goal of the whole work[^]*made\.txt is missing/, told);
});

testWithAll("a lost conversation is reported, and a new one starts", async () => {
  const forgetful = MAKE.replace("sh check.sh", "sh check.sh || (rm -r ~/.claude/projects; false)");
  const place = await repository(claude, workflow(forgetful));
  let begun = 0;
  const script = used([{}, { say: "Done." }]);
  script[0] = () => ({ ...(begun++ === 0 ? { say: "Done?" } : { run: "echo made > made.txt" }), usage: USED });
  // A confined check could not remove it.
  const { code, stderr, summary, told } = await conducted(claude, place, script, "--confine", "off");
  assert.equal(code, 0, told);
  assert.match(stderr, /the conversation about step 1 cannot continue \(.*\); a new one begins/, told);
  assert.equal(summary.steps[0].attempts, 2, told);
});

test("a call that needs a decision pauses the run on request", async () => {
  const place = await repository(claude);
  const script = used([{ run: "./unknown-program --now" }, { say: "I need unknown-program." }]);
  const { code, stderr, told } = await conducted(claude, place, script, "--on-ask", "pause");
  assert.equal(code, 3, told);
  assert.match(stderr, /the agent of step 1 needs a decision: `Bash: \.\/unknown-program --now`/, told);
});

always([claude], (name) => `a turn of ${name} above its cost limit ends itself, and the run waits`, async (client, repository) => {
  const place = await repository(client, workflow(MAKE, "max_cost_usd: 0.01\n"));
  const dear = { input: 100_000, cached: 0, output: 10_000 };
  const script = Array(20).fill({ run: "ls", usage: dear });
  const { code, heard, stderr, told } = await conducted(client, place, script);
  assert.equal(code, 3, told);
  assert.ok(heard.turns < 3, told);
  assert.match(stderr, /max_cost_usd/, told);
});
