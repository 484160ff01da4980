// A workflow of two steps, and an agent that claims too early to have finished it.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testIf } from "../../npm/test/support/all.mjs";
import { codex, machine, onloop, run } from "./clients.mjs";

const WORKFLOW = `---
intent: Make two files
success_criteria: both are there
risk_level: low
auto_approve: true
---

## Steps

- [ ] **Step 1: The first**
action: Make one.txt
loop: false
verify: test -s one.txt

- [ ] **Step 2: The second**
action: Make two.txt
loop: until two.txt has something in it
max_iterations: 3
verify: test -s two.txt
gate: auto
`;
export const FILE = "hotl-workflow-two-files.md";
/** A configuration that allows starting runs without a question. */
const CONSENT = `permissions:
  allow:
    - "^onloop (prepare|init) "
    - { tool: "mcp__*", pattern: ".*" }
    - { tool: "onloop_*", pattern: ".*" }
`;

/** A machine whose project is a repository with the workflow in it. */
export async function withWorkflow(client) {
  const place = machine(client);
  writeFileSync(join(place.project, FILE), WORKFLOW);
  writeFileSync(join(place.home, ".agentize.local.yaml"), CONSENT);
  const git = "git init -q -b main && git add -A && git -c user.name=me -c user.email=me@example.org commit -qm begin";
  assert.equal((await run("sh", ["-c", git], place)).code, 0);
  return place;
}

/** The record of the only run. */
export async function record(place) {
  const runs = JSON.parse(await onloop(place, "status", "--all", "--json"));
  assert.equal(runs.length, 1, JSON.stringify(runs));
  return runs[0];
}

/** The continuation prompts, as `1/8 of run …`. */
export function continuations({ told }) {
  const found = told.map((text) => /automatic continuation (\d+\/\d+) of run/.exec(text)?.[1]);
  return found.filter((count) => count !== undefined);
}

/** Why the only session ended. */
export async function ending(place) {
  const sessions = JSON.parse(await onloop(place, "session", "list", "--json"));
  assert.equal(sessions.length, 1, JSON.stringify(sessions));
  return sessions[0].reason ?? "";
}

/** Follows the continuation prompt, including the work. */
function obey({ told }) {
  const prompt = told.at(-1);
  const next = /```sh\n(onloop .*)\n```/.exec(prompt)?.[1];
  const verify = /have it verified: `(onloop .*)`/.exec(prompt)?.[1];
  const work = /^Make (\w+\.txt)$/m.exec(prompt)?.[1];
  assert.ok(next, prompt);
  return { run: [next, work && `echo made > ${work}`, verify].filter(Boolean).join(" && ") };
}

const claim = ({ turns }) => ({ say: `Everything is finished (${turns}).` });
const begin = { run: `onloop init ${FILE}` };

/** Tests of runs for every client with a Stop hook. */
export function continues(client, options = {}) {
  test("an agent continues until the record says that the run is done, whatever the agent claims", async () => {
    const place = await withWorkflow(client);
    await onloop(place, "install", client.name);
    // Two steps, the gate that the rules approve, and the end.
    const script = [begin, claim, ...Array(4).fill([obey, claim]).flat()];
    const ended = await client.session(place, script, options);
    assert.equal(ended.code, 0, JSON.stringify(ended));
    assert.equal((await record(place)).status, "completed", JSON.stringify(ended.heard));
    assert.equal(ended.heard.turns, script.length - 1, "the last claim was true, so it counted");
    assert.equal(continuations(ended.heard).length, 4);
    assert.ok(existsSync(join(place.project, "two.txt")));
  });

  test("an agent that only talks is stopped, and the reason is recorded", async () => {
    const place = await withWorkflow(client);
    await onloop(place, "install", client.name);
    const ended = await client.session(place, [begin, ...Array(30).fill(claim)], options);
    assert.equal(ended.code, 0, JSON.stringify(ended));
    // The first stop came after work, the five continuations after it brought none.
    assert.equal(continuations(ended.heard).length, 5, JSON.stringify(continuations(ended.heard)));
    assert.match(await ending(place), /^the last 5 continuations brought no progress/);
    assert.equal((await record(place)).status, "running");
  });
}

/** Lets an agent only talk, with a changed environment of its client. */
export async function talksOn(client, variables) {
  const place = await withWorkflow(client);
  await onloop(place, "install", client.name);
  Object.assign(place.env, variables);
  const ended = await client.session(place, [begin, ...Array(30).fill(claim)]);
  return { place, ended };
}

/**
 * The client calls the tools of our server. `turns` makes turns from the name of a tool and
 * its input: whatever the client wants before, and the call.
 */
export function callsTools(client, install, turns, options) {
  testIf(client === codex)(`the agent of ${client.name} drives a run with our tools`, async () => {
    const place = await withWorkflow(client);
    await install(place);
    const calls = [
      ["lint", { files: [FILE] }],
      ["next", {}],
      ["step", { step: 1, action: "start" }],
    ];
    const script = [begin, ...calls.flatMap(([tool, input]) => turns(tool, input))];
    const ended = await client.session(place, script, options?.(place));
    assert.equal(ended.code, 0, JSON.stringify(ended));
    const said = ended.heard.results.join("\n");
    assert.match(said, /hotl-workflow-two-files\.md/, said);
    assert.match(said, /onloop step 1 start/, said);
    const { run_id } = await record(place);
    const next = JSON.parse(await onloop(place, "next", "--run-id", run_id, "--json"));
    assert.notEqual(next.action, "start", `the step was started: ${said}`);
  });
}
