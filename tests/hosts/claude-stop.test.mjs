// When the agent of the real Claude Code wants to stop.

import assert from "node:assert/strict";
import { test } from "node:test";
import { claude } from "./clients.mjs";
import { continuations, continues, ending, talksOn } from "./runs.mjs";

continues(claude);

test("the cap of Claude Code is known before it is met, and named", async () => {
  const { place, ended } = await talksOn(claude, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "2" });
  assert.equal(ended.code, 0, JSON.stringify(ended));
  assert.deepEqual(continuations(ended.heard), ["1/2", "2/2"]);
  assert.match(await ending(place), /only 2 continuations in a row without a tool call/);
  // Without our bound the client would have ended the turn by itself, with an empty result.
  assert.match(JSON.parse(ended.stdout).result, /^Everything is finished/);
});
