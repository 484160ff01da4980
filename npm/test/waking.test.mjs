// Programs that are left running while their caller does something else.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { NodeHost, load } from "../dist/index.js";
import { isLong } from "./support/all.mjs";
import { effects, shell } from "./support/effects.mjs";
import * as workspace from "./support/workspace.mjs";
import { isAlive } from "./support/process.mjs";
import { folder } from "./support/workspace.mjs";

function begin(t) {
  const cwd = folder(t);
  const node = new NodeHost({ cwd, attended: false });
  t.after(() => node.end());
  const host = effects(node);
  const start = (line, more = {}) => host.process(shell(line, { wake_after_ms: 1, ...more }));
  return { cwd, node, host, start };
}

test("a woken caller loses no output", async (t) => {
  const { cwd, host, start } = begin(t);
  const line = "cat; for n in 1 2 3 4 5; do head -c 100000 /dev/zero; sleep 0.02; done; echo end";
  let turn = await start(line, { stdin: new Uint8Array(300_000).fill(120), stream_to: "all.log" });
  let wakes = 0;
  for (; turn.is === "running"; wakes += 1) turn = await host.wait({ wake_after_ms: 1 });
  assert.ok(wakes > 3, `woken ${wakes} times`);
  assert.deepEqual(turn.status, { exited: 0 });
  assert.equal(turn.stdout.total_bytes, 800_004);
  assert.equal(Buffer.from(turn.stdout.tail).toString().slice(-4), "end\n");
  assert.equal(statSync(join(cwd, "all.log")).size, 800_004);
  assert.ok(turn.duration_ms >= 100, `${turn.duration_ms} ms`);
});

test("an interrupt waits for the next request", async (t) => {
  const { node, host, start } = begin(t);
  assert.deepEqual(await start("exec sleep 1000"), { is: "running" });
  node.interrupt();
  await host.write({ path: "saved", bytes: new Uint8Array(0), expect: "absent" });
  const end = await host.wait({ wake_after_ms: 60_000 });
  assert.equal(end.status, "interrupted");
  await assert.rejects(host.wait(), { kind: "not_found" });
});

test("a program that did not start is not left running", async (t) => {
  const { host, start } = begin(t);
  await assert.rejects(start("", { command: { argv: ["./none"] } }), { kind: "not_found" });
  await assert.rejects(host.wait(), { kind: "not_found" });
  const end = await host.process({ command: { argv: ["true"] } });
  assert.deepEqual(end.status, { exited: 0 });
});

test("a program left running ends before the locks are released", async (t) => {
  const { cwd, node, host, start } = begin(t);
  await host.lock({ path: "a.lock" });
  assert.deepEqual(await start("trap '' TERM; echo $$ >pid; while :; do sleep 1; done"), { is: "running" });
  const path = join(cwd, "pid");
  while (!existsSync(path) || readFileSync(path, "utf8") === "") await pause(5);
  const pid = Number(readFileSync(path, "utf8"));
  let wasEarly = false;
  const watcher = setInterval(() => (wasEarly ||= isAlive(pid) && !existsSync(join(cwd, "a.lock"))), 1);
  t.after(() => clearInterval(watcher));
  assert.equal((await load().capture(node.start(["onloop", "--version"], {}), node)).exit, 0);
  assert.deepEqual([isAlive(pid), existsSync(join(cwd, "a.lock")), wasEarly], [false, false, false]);
});

const ROUNDS = isLong ? 500 : 50;

test("every version of a file differs", async (t) => {
  const { host } = begin(t);
  const versions = new Set();
  for (let round = 0; round < ROUNDS; round += 1) {
    versions.add((await host.write({ path: "a", bytes: workspace.bytes("same") })).version);
  }
  assert.equal(versions.size, ROUNDS);
});
