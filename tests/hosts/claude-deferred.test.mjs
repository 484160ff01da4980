// Deferred calls of the real Claude Code, which a person decides later.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testWithAll } from "../../npm/test/support/all.mjs";
import { claude, machine, onloop, run } from "./clients.mjs";

const CALL = "cp victim/file copied";

/** A machine on which the call above waits, and the id under which it does. */
async function waiting() {
  const place = machine(claude);
  // A sandbox would replace the question.
  writeFileSync(join(place.home, ".agentize.local.yaml"), "permissions:\n  confine: off\n");
  await onloop(place, "install", "claude");
  const ended = await claude.session(place, [{ run: CALL }]);
  assert.equal(ended.code, 0, JSON.stringify(ended));
  assert.equal(JSON.parse(ended.stdout).terminal_reason, "tool_deferred");
  assert.ok(!existsSync(join(place.project, "copied")));
  const calls = await pending(place);
  assert.equal(calls.length, 1, JSON.stringify(calls));
  return { place, id: calls[0].id };
}

async function pending(place) {
  return JSON.parse(await onloop(place, "approve", "--json"));
}

/** The person decides, and the session continues with the other turns. */
function answer(place, words, script) {
  const act = (program, options, around) => run("onloop", ["approve", ...words, "--resume"], around);
  return claude.session(place, script, { act });
}

test("only an approved call runs when its session continues", async () => {
  const { place, id } = await waiting();
  const again = { run: `${CALL}-again` };
  const ended = await answer(place, [id], [{ run: CALL }, again]);
  assert.equal(ended.code, 0, JSON.stringify(ended));
  assert.ok(existsSync(join(place.project, "copied")), JSON.stringify(ended));
  assert.ok(!existsSync(join(place.project, "copied-again")));
  const calls = await pending(place);
  assert.deepEqual(calls.map(({ target }) => target.includes("copied-again")), [true], JSON.stringify(calls));
});

testWithAll("a denied call does not run, and its agent gets the denial", async () => {
  const { place, id } = await waiting();
  const ended = await answer(place, [id, "--deny"], [{ run: CALL }]);
  assert.equal(ended.code, 0, JSON.stringify(ended));
  assert.ok(!existsSync(join(place.project, "copied")));
  assert.match(ended.heard.results[0], /a person denied it/);
  assert.deepEqual(await pending(place), []);
});

test("an agent cannot approve its own call", async () => {
  const { place, id } = await waiting();
  const ended = await claude.session(place, [{ run: `onloop approve ${id}` }]);
  assert.match(ended.heard.results[0], /answers for the person/);
  const call = (await pending(place)).find((call) => call.id === id);
  assert.equal(call.answer ?? null, null, JSON.stringify(call));
});
