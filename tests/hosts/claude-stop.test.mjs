// The Stop hook in the real Claude Code.

import assert from "node:assert/strict";
import { test } from "node:test";
import { claude } from "./clients.mjs";
import { continuations, continues, ending, talksOn } from "./runs.mjs";

continues(claude);

test("onloop stops before the cap of Claude Code, and names it", async () => {
  const { place, ended } = await talksOn(claude, { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "2" });
  assert.equal(ended.code, 0, JSON.stringify(ended));
  assert.deepEqual(continuations(ended.heard), ["1/2", "2/2"]);
  assert.match(await ending(place), /only 2 continuations in a row without a tool call/);
  // Without our limit the client would have ended the turn with an empty result.
  assert.match(JSON.parse(ended.stdout).result, /^Everything is finished/);
});
