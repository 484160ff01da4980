// The status line of a run in a terminal of a given width.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import * as workspace from "./support/workspace.mjs";
import { folder, npmFolder } from "./support/workspace.mjs";

const WORKFLOW = `---
intent: Wait
success_criteria: It waited
risk_level: low
---
- [ ] **Step 1: Make 日本語 files that anybody could want**
action: Wait.
loop: false
`;

/** The terminal output of a run whose agent runs this line. */
function seen(t, columns, line, variables = {}) {
  const cwd = folder(t);
  const env = { ...workspace.environment(cwd), TERM: "xterm", CI: "", NO_COLOR: "", ...variables };
  workspace.write(cwd, { "hotl-workflow-wait.md": WORKFLOW, "agent.sh": line });
  const bin = join(npmFolder, "bin/onloop.mjs");
  const command = `stty cols ${columns} && '${process.execPath}' '${bin}' run --mode none --agent-command 'sh agent.sh'`;
  const words = ["--quiet", "--return", "--command", command, "/dev/null"];
  const { status, stdout, stderr } = spawnSync("script", words, { cwd, env, encoding: "utf8" });
  assert.equal(status, 0, `${stdout}${stderr}`);
  return stdout;
}

/** Every state of the status line that was drawn, without styles. */
function lines(output) {
  const drawn = output.split("\r\x1b[2K").slice(1).filter((text) => /^\x1b\[36m/.test(text));
  return drawn.map((text) => text.replaceAll(/\x1b\[[0-9;]*m/g, ""));
}

const WORKING = "sleep 0.7; printf 'reading \\033[31mfiles\\033[0m\\n'; sleep 0.7";

test("a status line says what runs, for how long and what it does", (t) => {
  const output = seen(t, 80, WORKING);
  const [first, last] = [lines(output).at(0), lines(output).at(-1)];
  assert.match(first, /^[⠁-⣿] Step 1: Make 日本語 files that anybody could want \d s$/);
  assert.match(last, /^[⠁-⣿] Step 1: Make 日本語 files that anybody could want \d s reading files$/);
  // Further output begins on an empty line.
  assert.match(output, /reading files\x1b\[0m\r\x1b\[2K[^\x1b\r]/);
});

test("a status line fits into its terminal", (t) => {
  const last = lines(seen(t, 40, WORKING)).at(-1);
  assert.match(last, /^[⠁-⣿] Step 1: Make 日本… \d s reading files$/);
});

test("NO_COLOR turns the status line off", (t) => {
  assert.deepEqual(lines(seen(t, 80, WORKING, { NO_COLOR: "1" })), []);
});
