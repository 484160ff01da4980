// A workflow of two steps, and an agent that claims too early to have finished it.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { machine, onloop, run } from "./clients.mjs";

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
/** What a person writes who wants runs to be begun without being asked. */
const CONSENT = 'permissions:\n  allow:\n    - "^onloop (prepare|init) "\n';

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

/** The prompts with which an agent was sent on, as `1/8 of run …`. */
export function continuations({ told }) {
  const found = told.map((text) => /automatic continuation (\d+\/\d+) of run/.exec(text)?.[1]);
  return found.filter((count) => count !== undefined);
}

/** Why the only session was not sent on any more. */
export async function ending(place) {
  const sessions = JSON.parse(await onloop(place, "session", "list", "--json"));
  assert.equal(sessions.length, 1, JSON.stringify(sessions));
  return sessions[0].reason ?? "";
}

/** Does what the prompt says that it was sent on with, the work included. */
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

/** The claims about runs that hold in every client that asks before its agent stops. */
export function continues(client, options = {}) {
  test("an agent is sent on until the record says that the run is done, whatever it claims", async () => {
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

  test("an agent that only talks is let go, and why is kept", async () => {
    const place = await withWorkflow(client);
    await onloop(place, "install", client.name);
    const ended = await client.session(place, [begin, ...Array(30).fill(claim)], options);
    assert.equal(ended.code, 0, JSON.stringify(ended));
    // The first stop came after work. The fifth that did not is the last.
    assert.equal(continuations(ended.heard).length, 5, JSON.stringify(continuations(ended.heard)));
    assert.match(await ending(place), /^the last 5 stops showed no progress/);
    assert.equal((await record(place)).status, "running");
  });
}

/** Lets an agent talk on and on, with its client's environment changed. */
export async function talksOn(client, variables) {
  const place = await withWorkflow(client);
  await onloop(place, "install", client.name);
  Object.assign(place.env, variables);
  const ended = await client.session(place, [begin, ...Array(30).fill(claim)]);
  return { place, ended };
}
