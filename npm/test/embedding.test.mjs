// The examples of the documentation print what the documentation says.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as workspace from "./support/workspace.mjs";
import { folder, npmFolder, repository } from "./support/workspace.mjs";

const text = readFileSync(join(repository, "docs/embedding.md"), "utf8");
const example = /^## (.+)$|^```js\n([^]*?)^```\n\n```text\n([^]*?)^```$/gm;
let heading = "";
let count = 0;

for (const [, title, script, expected] of text.matchAll(example)) {
  if (title) {
    heading = title;
    continue;
  }
  count += 1;
  test(heading, (t) => {
    const cwd = folder(t);
    mkdirSync(join(cwd, "node_modules"));
    symlinkSync(npmFolder, join(cwd, "node_modules/onloop"));
    workspace.write(cwd, { "example.mjs": script });
    const env = workspace.environment(cwd, { TMPDIR: cwd });
    const end = workspace.run([process.execPath], ["example.mjs"], { cwd, env });
    assert.equal(end.stdout, expected, end.stderr);
  });
}

test("every example is tested", () => {
  assert.equal(count, text.match(/^```js$/gm).length);
});
