// The other workflows, from the first step of each job to its last. A fake `./test` refuses unknown stages.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { parse } from "yaml";
import { rehearse, repository } from "./rehearsal.mjs";
import { perform } from "./workflow.mjs";

const { version } = JSON.parse(readFileSync(join(repository, "npm/package.json"), "utf8"));
const world = await rehearse(version);
after(() => {
  world.registry.end();
  rmSync(world.top, { recursive: true, force: true });
});

for (const [name, jobs] of [
  ["ci", ["test"]],
  ["nightly", ["all"]],
]) {
  test(`${name} runs existing stages, after installing their packages`, () => {
    assert.deepEqual(perform(`.github/workflows/${name}.yml`, world, { only: jobs }), jobs);
  });
}

test("jobs of ci have separate caches", () => {
  const { jobs } = parse(readFileSync(join(repository, ".github/workflows/ci.yml"), "utf8"));
  const names = jobs.test.strategy.matrix.include.map((row) => row.name);
  assert.equal(new Set(names).size, names.length);
});
