// Records traces anew, each with its command, environment and input, which comes in one piece:
//
//     node tests/traces/record.mjs target/debug/onloop run mcp

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TRACES = dirname(fileURLToPath(import.meta.url));
const WORKFLOW = `---
intent: Say hello
success_criteria: the greeting is there
risk_level: low
auto_approve: true
---

## Steps

- [ ] **Step 1: Write the greeting**
action: Write hello into greeting.txt
loop: false
verify: grep -q hello greeting.txt
`;

const [program, ...names] = process.argv.slice(2);
if (names.length === 0) throw new Error("usage: node tests/traces/record.mjs PROGRAM NAME…");
for (const name of names) record(join(TRACES, `${name}.jsonl`));

function record(path) {
  const [{ start }, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
  const inputs = lines.filter(({ reply }) => reply?.outcome?.is === "input");
  const top = dirname(start.cwd);
  rmSync(top, { recursive: true, force: true });
  mkdirSync(start.env.HOME, { recursive: true });
  mkdirSync(start.cwd);
  copyFileSync(program, join(top, "onloop"));
  writeFileSync(join(start.cwd, "hotl-workflow-hello.md"), WORKFLOW);
  const [command, ...words] = start.argv;
  const { error, status } = spawnSync(command, words, {
    cwd: start.cwd,
    env: start.env,
    input: inputs.map(({ attachments }) => attachments.join("")).join(""),
    stdio: ["pipe", "ignore", "inherit"],
  });
  const { exit } = lines.at(-1);
  if (error !== undefined || status !== exit) throw error ?? new Error(`${path}: exit code ${status} instead of ${exit}`);
  copyFileSync(start.env.ONLOOP_TRACE, path);
  rmSync(top, { recursive: true });
}
