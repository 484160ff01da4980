// Real clients with a server that does not answer. These tests mostly wait, so they are in a separate file:
// files run in parallel.

import assert from "node:assert/strict";
import { codex } from "./clients.mjs";
import { always, CLIENTS, conducted, kept, used } from "./conducted.mjs";

const HALF = { run: "echo half > half.txt" };
const MADE = { run: "echo made > made.txt" };

always(CLIENTS, (name) => `a turn of ${name} without output is ended and tried again`, async (client, repository) => {
  const place = await repository(client);
  // Claude Code's conversation has one more message after it was interrupted.
  const script = used([HALF, MADE, MADE, { say: "Done." }]);
  let silent = 0;
  const made = script[1];
  script[1] = () => (silent++ === 0 ? { hang: true } : made);
  const began = Date.now();
  const { code, summary, told } = await conducted(client, place, script, "--stall-timeout", "40s");
  assert.equal(code, 0, told);
  assert.equal(summary.steps[0].attempts, 2, told);
  assert.ok(Date.now() - began < 250_000, told);
  const log = kept(place, summary, "logs/1-1.log");
  assert.match(log, /! agent ended: no sign of life for 40 s\n/, log);
}, [codex]);
