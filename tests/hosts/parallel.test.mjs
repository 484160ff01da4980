// Steps that work side by side with the real clients: each in its own worktree and sandbox, with its
// own conversation, and all of it counted once.

import assert from "node:assert/strict";
import { readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { testIf } from "../../npm/test/support/all.mjs";
import { claude, codex, opencode, repository as top } from "./clients.mjs";
import { conducted, repository, USED, workflow } from "./conducted.mjs";

const step = (number, depends, check) => `- [ ] **Step ${number}: Make it**
action: Make the file of step ${number}
loop: until it is there
max_iterations: 2
depends_on: ${depends}
verify: ${check}
`;

const STEPS = [
  step(1, "[]", "test -s made-1.txt"),
  step(2, "[]", "test -s made-2.txt"),
  step(3, "[1, 2]", "test -s made-1.txt -a -s made-2.txt -a -s made-3.txt"),
].join("\n");

/** Each conversation makes the file that its prompt names. */
const SCRIPT = [
  ({ told }) => {
    const [, number] = told.join("\n").match(/Make the file of step (\d)/);
    return { run: `echo made > made-${number}.txt`, usage: USED };
  },
  { say: "It is made.", usage: USED },
];

const byNode = (place) => {
  rmSync(place.bin);
  symlinkSync(join(top, "npm/bin/onloop.mjs"), place.bin);
  return { ...place, env: { ...place.env, ONLOOP_BINARY: "" } };
};

const WAYS = [
  [claude, "", (place) => place],
  [claude, ", conducted by Node", byNode],
  [codex, "", (place) => place],
  [opencode, "", (place) => place],
];

for (const [client, way, prepare] of WAYS) {
  testIf(client === codex)(`steps of ${client.name} work side by side, and their use is counted once${way}`, async () => {
    const made = await repository(client, workflow(STEPS, "worktree: true\nmax_parallel: 2\n"));
    const { code, summary, told } = await conducted(client, prepare(made), SCRIPT);
    assert.equal(code, 0, told);
    assert.equal(summary.status, "completed", told);
    assert.deepEqual(summary.steps.map(({ fork }) => fork?.state), ["merged", "merged", undefined], told);
    for (const number of [1, 2, 3]) {
      assert.equal(readFileSync(join(summary.execution_root, `made-${number}.txt`), "utf8"), "made\n", told);
    }
    // Two that start for the first time can end each other's first attempt, of which nothing is known.
    if (client === opencode) return;
    const { cost_usd, ...tokens } = summary.usage;
    assert.deepEqual(tokens, { input_tokens: 6000, cached_input_tokens: 1800, output_tokens: 300 }, told);
    assert.ok(client === claude ? cost_usd > 0 : cost_usd === null, told);
  });
}
