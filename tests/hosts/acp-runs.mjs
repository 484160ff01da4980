// Runs whose agent is driven by the Agent Client Protocol.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { machine, run } from "./clients.mjs";

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

/** The run of the workflow by an agent that takes the turns of a script, and what its model heard. */
export async function drivenBy(client, agent, script, words = []) {
  const place = machine(client);
  writeFileSync(join(place.project, "hotl-workflow-make.md"), WORKFLOW);
  const git = "git init -q -b main && git add -A && git -c user.name=me -c user.email=me@example.org commit -qm begin";
  assert.equal((await run("sh", ["-c", git], place)).code, 0);
  const options = ["run", "--mode", "branch", "--agent", agent, ...words];
  const ended = await client.served(place, script, (place) => run("onloop", options, place));
  const summary = JSON.parse((await run("onloop", ["summary", "--json"], place)).stdout);
  return { ...ended, place, summary };
}
