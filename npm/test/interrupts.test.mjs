// Interrupts with real processes.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { NodeHost } from "../dist/index.js";
import { testIf } from "./support/all.mjs";
import * as workspace from "./support/workspace.mjs";
import { effects, shell } from "./support/effects.mjs";
import { isAlive } from "./support/process.mjs";
import { folder, npmFolder } from "./support/workspace.mjs";

const WORKFLOW = `---
intent: Wait
success_criteria: It waited
risk_level: low
---
- [ ] **Step 1: Wait**
action: Wait.
loop: false
`;

/** A run whose agent writes its pid to `agent` and waits. */
async function begin(t, line) {
  const cwd = folder(t);
  const env = workspace.environment(cwd);
  workspace.write(cwd, { "hotl-workflow-wait.md": WORKFLOW });
  const bin = join(npmFolder, "bin/onloop.mjs");
  const words = [bin, "run", "--mode", "none", "--agent-command", `echo $$ >agent; ${line}`];
  const child = spawn(process.execPath, words, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  const said = [];
  child.stdout.on("data", (bytes) => said.push(bytes));
  child.stderr.on("data", (bytes) => said.push(bytes));
  const ended = once(child, "close").then(([exit]) => ({ exit, said: said.join("") }));
  const agent = join(cwd, "agent");
  while (!existsSync(agent) || readFileSync(agent, "utf8") === "") await pause(5);
  return { cwd, env, bin, child, ended, agent: Number(readFileSync(agent, "utf8")) };
}

async function hasEnded(pid) {
  for (let tries = 0; isAlive(pid); tries += 1) {
    assert.ok(tries < 2000, `process ${pid} still runs`);
    await pause(5);
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  testIf(signal === "SIGINT")(`${signal} ends the agent and keeps the record`, async (t) => {
    const run = await begin(t, "exec sleep 1000");
    run.child.kill(signal);
    const { exit, said } = await run.ended;
    assert.equal(exit, 130, said);
    await hasEnded(run.agent);
    const { cwd, env } = run;
    const next = workspace.run([process.execPath, run.bin], ["next"], { cwd, env });
    assert.match(next.stdout, /ask-interrupted|act/);
  });
}

test("a second Ctrl-C kills an agent that ignores the first", async (t) => {
  const run = await begin(t, "trap '' TERM INT; while :; do sleep 0.1; done");
  run.child.kill("SIGINT");
  await pause(100);
  run.child.kill("SIGINT");
  const { exit, said } = await run.ended;
  assert.equal(exit, 130, said);
  await hasEnded(run.agent);
  const locks = readdirSync(join(run.cwd, ".hotl"), { recursive: true }).filter((name) =>
    String(name).endsWith(".lock"),
  );
  assert.deepEqual(locks, []);
});

test("the rest of a process group ends with its program", async (t) => {
  const cwd = folder(t);
  const end = await effects(new NodeHost({ cwd })).process(shell("sleep 1000 & echo $! >left; echo said"));
  assert.deepEqual(end.status, { exited: 0 });
  assert.equal(new TextDecoder().decode(end.stdout.head), "said\n");
  await hasEnded(Number(readFileSync(join(cwd, "left"), "utf8")));
});

test("an interrupt before the start of a program prevents one start", async (t) => {
  const cwd = folder(t);
  const host = new NodeHost({ cwd });
  const run = () => effects(host).process({ command: { argv: ["touch", "ran"] } });
  host.interrupt();
  await assert.rejects(run(), { kind: "interrupted" });
  assert.deepEqual(readdirSync(cwd), []);
  assert.deepEqual((await run()).status, { exited: 0 });
});
