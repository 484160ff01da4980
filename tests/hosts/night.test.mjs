// Unattended runs with the real clients: onloop waits for rate limits, and other agents replace
// missing or rate-limited ones.

import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testWithAll } from "../../npm/test/support/all.mjs";
import { claude, codex, opencode, run } from "./clients.mjs";
import { always, CLIENTS, conducted, kept, repository, USED, used, workflow } from "./conducted.mjs";
import { after, LIMIT, subscribed } from "./limits.mjs";

const WORK = [{ run: "echo half > half.txt" }, { run: "echo made > made.txt" }, { say: "Done." }];

always(CLIENTS, (name) => `a limit of ${name} is waited for, and the same conversation continues`, async (client, repository) => {
  const place = subscribed(client, await repository(client));
  // opencode itself waits for a limit of up to a minute, and then sends the request again.
  const s = client === opencode ? 600 : 8;
  const limit = () => ({ fail: LIMIT[client.name](s) });
  const script = used([WORK[0], WORK[1], WORK[2]]);
  script[1] = after(1, limit, script[1]);
  const began = Date.now();
  const wait = client === opencode ? ["--max-wait", "5s"] : [];
  const { code, summary, heard, stderr, told } = await conducted(client, place, script, ...wait);
  assert.match(stderr, /its limit on usage is reached/, told);
  if (client === opencode) {
    // A longer wait than was asked for pauses the run, with the time of its end.
    assert.equal(code, 3, told);
    assert.match(stderr, /until 20\S+;\s+that is longer than --max-wait,\s+5 s/, told);
    assert.ok(Date.now() - began < s * 1000, told);
    return;
  }
  assert.equal(code, 0, told);
  assert.match(stderr, new RegExp(`${client.name}: its limit on usage is reached\n    waits until 20`), told);
  assert.ok(Date.now() - began > s * 1000, told);
  const [step] = summary.steps;
  assert.equal(step.attempts, 1, told);
  assert.equal(readFileSync(join(summary.execution_root, "half.txt"), "utf8"), "half\n");
  assert.match(heard.told.at(-1), /can continue now/, told);
  assert.doesNotMatch(heard.told.at(-1), /Goal of the whole work/);
  const { cost_usd, ...tokens } = step.usage;
  assert.deepEqual(tokens, { input_tokens: 3000, cached_input_tokens: 900, output_tokens: 150 }, told);
  assert.match(kept(place, summary, "logs/1-1.log"), /the limit on usage is reached[^]*Done\./);
});

testWithAll("onloop waits for a limit of opencode that its client would wait for", async () => {
  const place = await repository(opencode);
  const script = used([WORK[0], WORK[1], WORK[2]]);
  // The client waits for up to a minute.
  script[1] = after(1, () => ({ fail: LIMIT.opencode(70) }), script[1]);
  const { code, summary, heard, stderr, told } = await conducted(opencode, place, script);
  assert.equal(code, 0, told);
  assert.match(stderr, /opencode: its limit on usage is reached\n    waits until 20/, told);
  assert.equal(summary.steps[0].attempts, 1, told);
  assert.equal(readFileSync(join(summary.execution_root, "half.txt"), "utf8"), "half\n");
  assert.match(heard.told.at(-1), /can continue now/, told);
});

test("other agents replace a missing agent and a rate-limited one", async () => {
  const place = await repository(codex);
  symlinkSync(claude.program, join(place.home, "../bin/claude"));
  const env = { ...place.env, ...claude.variables(place.home) };
  const limited = () => ({ fail: LIMIT.claude(3600) });
  const { code, stderr, summary, told } = await claude.served(subscribed(claude, { ...place, env }), [limited], (place) =>
    conducted(codex, place, used(WORK), "--agent", "opencode,claude,codex"),
  );
  assert.equal(code, 0, told);
  assert.match(stderr, /warning: `opencode` is not on PATH and left out/, told);
  assert.equal(summary.steps[0].agent, "codex", told);
  assert.equal(summary.steps[0].attempts, 1, told);
});

test("without an agent no run starts", async () => {
  const place = await repository(claude);
  rmSync(join(place.home, "../bin/claude"));
  const { code, stderr, told } = await conducted(claude, place, [], "--agent", "codex,opencode");
  assert.equal(code, 2, told);
  assert.match(stderr, /none of the agents is on PATH: `codex`, `opencode`/, told);
  assert.ok(!existsSync(join(place.project, ".hotl-worktrees")));
});
