// A workflow of one step, which a real client is let to conduct.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { claude, codex, machine, onloop, opencode, run } from "./clients.mjs";

export const FILE = "hotl-workflow-make.md";
/** @param {string} more further frontmatter */
export const workflow = (steps, more = "") => `---
intent: Make a file
success_criteria: it is there
risk_level: low
auto_approve: true
${more}---

## Steps

${steps}`;

export const MAKE = `- [ ] **Step 1: Make it**
action: Make made.txt
loop: until it is there
max_iterations: 3
verify: sh check.sh
`;
export const USED = { input: 1000, cached: 300, output: 50 };
export const used = (turns) => turns.map((turn) => ({ ...turn, usage: USED }));

/** A repository with a workflow of these steps in it, and a check that wants `made.txt`. */
export async function repository(client, text = workflow(MAKE)) {
  const place = machine(client);
  writeFileSync(join(place.project, FILE), text);
  writeFileSync(join(place.project, "check.sh"), "cat made.txt || { echo 'made.txt is missing'; exit 1; }\n");
  const git = "git init -q -b main && git add -A && git -c user.name=me -c user.email=me@example.org commit -qm begin";
  assert.equal((await run("sh", ["-c", git], place)).code, 0);
  return place;
}

/** The same where the user has our hooks installed as well. */
async function installed(client, text) {
  const place = await repository(client, text);
  await onloop(place, "install", client.name);
  return { ...place, isInstalled: true };
}

export const CLIENTS = [claude, codex, opencode];

/** Tests what must hold of these clients whether our hooks are installed or not; `act` gets what makes the repository. */
export function both(clients, title, act) {
  for (const client of clients) {
    test(title(client.name), () => act(client, repository));
    test(`${title(client.name)}, our hooks being installed`, () => act(client, installed));
  }
}

/** Lets the client conduct the workflow; what came of it, with the summary and where it worked. */
export async function conducted(client, place, script, ...words) {
  const agent = words.includes("--agent") ? [] : ["--agent", client.name];
  const ended = await client.served(place, script, (place) => {
    return run("onloop", ["run", FILE, ...agent, "--json", ...words], place);
  });
  const summary = ended.stdout.startsWith("{") ? JSON.parse(ended.stdout) : undefined;
  return { ...ended, summary, told: JSON.stringify(ended, undefined, 1) };
}

/** A file that a run keeps beside its ledger. */
export function kept(place, { run_id }, name) {
  const home = place.env.XDG_STATE_HOME ?? join(place.home, ".local/state");
  return readFileSync(join(home, "onloop/runs", run_id, name), "utf8");
}
