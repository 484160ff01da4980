// An agent that onloop drives by the Agent Client Protocol: opencode, whose own stream is another one.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { testWithAll } from "../../npm/test/support/all.mjs";
import { drivenBy } from "./acp-runs.mjs";
import { opencode } from "./clients.mjs";

const driven = (script, words) => drivenBy(opencode, "acp:opencode", script, words);

testWithAll("opencode continues its conversation, and our rules answer its requests", async () => {
  const config = [{ run: "echo one > one.txt" }, { say: "Done." }, { run: "echo two > one.txt" }, { say: "Done." }];
  const { code, place, summary, heard } = await driven(config);
  assert.equal(code, 0, JSON.stringify(summary));
  assert.equal(readFileSync(join(place.project, "one.txt"), "utf8"), "two\n");
  assert.equal(summary.steps[0].attempts, 2);
  assert.match(summary.steps[0].session, /^ses_/);
  assert.ok(heard.told.some((text) => text.includes("Make one.txt")), "the second turn has what the first was told");
});

testWithAll("a model that opencode does not offer pauses the run", async () => {
  const { code, stderr } = await driven([], ["--model", "nobody/nothing"]);
  assert.equal(code, 3, stderr);
  assert.match(stderr, /offers no model `nobody\/nothing`/);
});
