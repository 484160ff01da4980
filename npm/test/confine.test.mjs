// Node has no sandbox: a run says so, and a run that requires a sandbox is refused before it starts.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as workspace from "./support/workspace.mjs";
import { folder, npmFolder } from "./support/workspace.mjs";

const WORKFLOW = `---
intent: Try
success_criteria: It works
risk_level: low
---
- [ ] **Step 1: Go**
action: Go.
loop: false
verify: true
`;
const WHY = "use the native onloop for that";

/** A run in a new folder; returns its output and whether it left files. */
function begin(t, ...options) {
  const top = folder(t);
  const cwd = join(top, "project");
  const env = workspace.environment(top, { ONLOOP_CONFINE: "auto" });
  workspace.write(cwd, { "hotl-workflow-try.md": WORKFLOW });
  const command = [process.execPath, join(npmFolder, "bin/onloop.mjs"), "run", "--mode", "none", "--agent", "script"];
  const end = workspace.run(command, options, { cwd, env, timeout: 60_000 });
  return { ...end, began: existsSync(join(cwd, ".hotl")) };
}

test("a run that requires a sandbox is refused", (t) => {
  const { exit, stderr, began } = begin(t, "--confine", "on");
  assert.equal(exit, 4, stderr);
  assert.match(stderr, new RegExp(`error: \`--confine on\`, and this machine has no sandbox\\s+cause: ${WHY}\n`));
  assert.equal(began, false);
});

test("a run that may be confined says once that it is not confined", (t) => {
  const { exit, stderr, began } = begin(t);
  assert.equal(exit, 0, stderr);
  assert.equal(stderr.split(`Sandbox: none (${WHY})`).length, 2, stderr);
  assert.equal(began, true);
});
