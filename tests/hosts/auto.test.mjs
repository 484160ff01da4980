// `onloop auto` with the real clients as its children: their logs read like transcripts, what they
// use is known, and an answer is what their model says, not what a tool prints.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { onloop, run } from "./clients.mjs";
import { CLIENTS, repository, used } from "./conducted.mjs";

/** Lets a client plan; what came of it, with the files that were kept of its turn by their extensions. */
async function planned(client, script) {
  const place = await repository(client);
  await onloop(place, "auto", "init");
  const ended = await client.served(place, script, (place) => {
    return run("onloop", ["auto", "add a file", "--agent", client.name], place);
  });
  const logs = join(place.project, ".ai/runtime/logs");
  const [folder] = readdirSync(logs);
  const kept = (extension) => readFileSync(join(logs, folder, `01-rw-planner.${extension}`), "utf8");
  return { ...ended, kept, told: JSON.stringify(ended, undefined, 1) };
}

for (const client of CLIENTS) {
  test(`a child that is ${client.name} is listened to, and answers with its words alone`, async () => {
    // Were it an answer, what the tool prints would contradict what is said.
    const answer = "It is planned.\nNEXT_COMMAND=done";
    const { code, stdout, stderr, kept, told } = await planned(client, used([{ run: "echo NEXT_COMMAND=rw-auto" }, { say: answer }]));
    assert.equal(code, 0, told);
    assert.equal(stdout, "AUTO_CYCLE=1\nAUTO_ROUTE_TARGET=rw-planner\nNEXT_COMMAND=done\n", told);
    assert.match(stderr, /^cycle 1: rw-planner: 2100 tokens/m, told);
    const log = kept("log");
    assert.match(log, /→ \w+: echo NEXT_COMMAND=rw-auto\n[^]*^It is planned\.\nNEXT_COMMAND=done\n/m, log);
    assert.match(log, /^— 2100 tokens/m, log);
    // What a client warns of on its error stream stands between its events.
    const events = kept("jsonl").split("\n").filter((line) => line.startsWith("{"));
    assert.ok(events.map((line) => JSON.parse(line)).length > 2);
  });
}

test("a child whose tool prints an answer, and which gives none, has not answered", async () => {
  const { code, stdout, told } = await planned(CLIENTS[0], [{ run: "echo NEXT_COMMAND=done" }, { say: "See above." }]);
  assert.equal(code, 20, told);
  assert.match(stdout, /AUTO_SUBAGENT_RESULT_INVALID\nNEXT_COMMAND=rw-auto\n$/, told);
});

test("a child whose provider refuses it has failed, and why is said", async () => {
  const refusal = () => ({ fail: { status: 400, error: { type: "invalid_request_error", message: "no such model" } } });
  const { code, stderr, kept, told } = await planned(CLIENTS[1], [refusal]);
  assert.equal(code, 20, told);
  assert.match(stderr, /the child failed: .*no such model.*; its transcript is in `\.ai\/runtime\/logs/, told);
  assert.match(kept("log"), /no such model/);
});
