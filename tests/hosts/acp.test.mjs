// An agent that onloop drives by the Agent Client Protocol: opencode, whose own stream is another one.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { machine, opencode, run } from "./clients.mjs";

const WORKFLOW = `---
intent: Make a file
success_criteria: it is there
risk_level: low
---

- [ ] **Step 1: Make it**
action: Make one.txt
loop: until it has two
max_iterations: 2
verify: grep -q two one.txt
`;

/** The run of the workflow by an agent that takes the turns of a script, and its first turn. */
async function driven(script, words = []) {
  const place = machine(opencode);
  writeFileSync(join(place.project, "hotl-workflow-make.md"), WORKFLOW);
  const git = "git init -q -b main && git add -A && git -c user.name=me -c user.email=me@example.org commit -qm begin";
  assert.equal((await run("sh", ["-c", git], place)).code, 0);
  const options = ["run", "--mode", "branch", "--confine", "off", "--agent", "acp:opencode", ...words];
  const ended = await opencode.served(place, script, (place) => run("onloop", options, place));
  const summary = JSON.parse((await run("onloop", ["summary", "--json"], place)).stdout);
  return { ...ended, place, summary };
}

test("opencode continues its conversation, and our rules answer its requests", async () => {
  const config = [{ run: "echo one > one.txt" }, { say: "Done." }, { run: "echo two > one.txt" }, { say: "Done." }];
  const { code, place, summary, heard } = await driven(config);
  assert.equal(code, 0, JSON.stringify(summary));
  assert.equal(readFileSync(join(place.project, "one.txt"), "utf8"), "two\n");
  assert.equal(summary.steps[0].attempts, 2);
  assert.match(summary.steps[0].session, /^ses_/);
  assert.ok(heard.told.some((text) => text.includes("Make one.txt")), "the second turn has what the first was told");
});

test("a model that opencode does not offer pauses the run", async () => {
  const { code, stderr } = await driven([], ["--model", "nobody/nothing"]);
  assert.equal(code, 3, stderr);
  assert.match(stderr, /offers no model `nobody\/nothing`/);
});
