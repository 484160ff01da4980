// Runs of a workflow with one step by a real client.

import assert from "node:assert/strict";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testIf } from "../../npm/test/support/all.mjs";
import { claude, codex, machine, onloop, opencode, repository as top, run } from "./clients.mjs";

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

/** A repository with a workflow of these steps, and a check that needs `made.txt`. */
export async function repository(client, text = workflow(MAKE)) {
  const place = machine(client);
  writeFileSync(join(place.project, FILE), text);
  writeFileSync(join(place.project, "check.sh"), "cat made.txt || { echo 'made.txt is missing'; exit 1; }\n");
  const git = "git init -q -b main && git add -A && git -c user.name=me -c user.email=me@example.org commit -qm begin";
  assert.equal((await run("sh", ["-c", git], place)).code, 0);
  return place;
}

export const CLIENTS = [claude, codex, opencode];

/** Variants of a test: the suffix of the title, the client that a run without `--all` has, and the setup. */
const WAYS = [
  ["", undefined, (place) => place],
  [
    ", our hooks being installed",
    claude,
    async (place, client) => {
      await onloop(place, "install", client.name);
      return { ...place, isInstalled: true };
    },
  ],
  [
    ", conducted by Node",
    codex,
    (place) => {
      rmSync(place.bin);
      symlinkSync(join(top, "npm/bin/onloop.mjs"), place.bin);
      return { ...place, env: { ...place.env, ONLOOP_BINARY: "" } };
    },
  ],
];

/**
 * Adds a test for each client and variant; `act` gets a client and a function that creates its repository.
 * Without `--all` those of `sampled` run in the plain variant. Where these are all clients, the other
 * variants run with one of them.
 */
export function always(clients, title, act, sampled = clients.slice(0, 1)) {
  const isWhole = sampled.length === CLIENTS.length;
  for (const client of clients) {
    for (const [way, one, prepare] of WAYS) {
      const made = async (client, text) => prepare(await repository(client, text), client);
      const isSampled = one === undefined ? sampled.includes(client) : isWhole && client === one;
      testIf(isSampled)(title(client.name) + way, () => act(client, made));
    }
  }
}

/** Lets the client run the workflow; returns the result, the summary and the folder of the run. */
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
