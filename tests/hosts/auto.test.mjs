// `onloop auto` with the real clients as its agents: their logs read like transcripts, their
// usage is known, and only text of the model counts as answer, not output of tools.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testIf } from "../../npm/test/support/all.mjs";
import { onloop, opencode, run } from "./clients.mjs";
import { CLIENTS, repository, used } from "./conducted.mjs";

/** Lets a client plan; returns the result, with the files of its turn by extension. */
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
  testIf(client !== opencode)(`a child that is ${client.name} answers only with its own text`, async () => {
    // As an answer, the output of the tool would contradict the text.
    const answer = "It is planned.\nNEXT_COMMAND=done";
    const { code, stdout, stderr, kept, told } = await planned(client, used([{ run: "echo NEXT_COMMAND=rw-auto" }, { say: answer }]));
    assert.equal(code, 0, told);
    assert.equal(stdout, "AUTO_CYCLE=1\nAUTO_ROUTE_TARGET=rw-planner\nNEXT_COMMAND=done\n", told);
    assert.match(stderr, /^cycle 1: rw-planner: 2100 tokens/m, told);
    const log = kept("log");
    assert.match(log, /→ \w+: echo NEXT_COMMAND=rw-auto\n[^]*^It is planned\.\nNEXT_COMMAND=done\n/m, log);
    assert.match(log, /^— 2100 tokens/m, log);
    // Warnings on standard error are between the events.
    const events = kept("jsonl").split("\n").filter((line) => line.startsWith("{"));
    assert.ok(events.map((line) => JSON.parse(line)).length > 2);
  });
}

test("output of a tool is not an answer", async () => {
  const { code, stdout, told } = await planned(CLIENTS[0], [{ run: "echo NEXT_COMMAND=done" }, { say: "See above." }]);
  assert.equal(code, 20, told);
  assert.match(stdout, /AUTO_SUBAGENT_RESULT_INVALID\nNEXT_COMMAND=rw-auto\n$/, told);
});

test("an agent whose provider refuses fails with the reason", async () => {
  const refusal = () => ({ fail: { status: 400, error: { type: "invalid_request_error", message: "no such model" } } });
  const { code, stderr, kept, told } = await planned(CLIENTS[1], [refusal]);
  assert.equal(code, 20, told);
  assert.match(stderr, /the child failed: .*no such model.*; its transcript is in\s+`\.ai\/runtime\/logs/, told);
  assert.match(kept("log"), /no such model/);
});
