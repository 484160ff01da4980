// Programs that are left running while their caller does something else.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { NodeHost, load } from "../dist/index.js";
import * as workspace from "./support/workspace.mjs";
import { isAlive } from "./support/process.mjs";
import { folder } from "./support/workspace.mjs";

function begin(t) {
  const cwd = folder(t);
  const host = new NodeHost({ cwd, attended: false });
  t.after(() => host.processes.endLeft());
  const spec = { cwd: ".", envRemove: [], envSet: {}, captureBytes: 1000, interactive: false, wakeAfterMs: 1 };
  const start = (line, more = {}) => host.processes.run({ ...spec, command: { shell: "sh", line }, ...more });
  return { cwd, host, start };
}

test("nothing is lost however often the caller is woken", async (t) => {
  const { cwd, host, start } = begin(t);
  const line = "cat; for n in 1 2 3 4 5; do head -c 100000 /dev/zero; sleep 0.02; done; echo end";
  let turn = await start(line, { stdin: new Uint8Array(300_000).fill(120), streamTo: "all.log" });
  let wakes = 0;
  for (; turn === "running"; wakes += 1) turn = await host.processes.wait(1);
  assert.ok(wakes > 3, `woken ${wakes} times`);
  assert.deepEqual(turn.status, { exited: 0 });
  assert.equal(turn.stdout.totalBytes, 800_004);
  assert.equal(Buffer.from(turn.stdout.tail).toString().slice(-4), "end\n");
  assert.equal(statSync(join(cwd, "all.log")).size, 800_004);
  assert.ok(turn.durationMs >= 100, `${turn.durationMs} ms`);
});

test("an interrupt waits for the next turn", async (t) => {
  const { host, start } = begin(t);
  assert.equal(await start("exec sleep 1000"), "running");
  host.interrupt();
  await host.files.write("saved", new Uint8Array(0), "absent", false);
  const end = await host.processes.wait(60_000);
  assert.equal(end.status, "interrupted");
  await assert.rejects(host.processes.wait(), { kind: "not_found" });
});

test("what cannot be started is no program that is left running", async (t) => {
  const { host, start } = begin(t);
  await assert.rejects(start("", { command: { argv: ["./none"] } }), { kind: "not_found" });
  await assert.rejects(host.processes.wait(), { kind: "not_found" });
  const end = await host.processes.run({ command: { argv: ["true"] }, cwd: ".", envRemove: [], envSet: {}, captureBytes: 0, interactive: false });
  assert.deepEqual(end.status, { exited: 0 });
});

test("what is left running ends before the locks of the program are free", async (t) => {
  const { cwd, host, start } = begin(t);
  assert.equal(await start("trap '' TERM; echo $$ >pid; while :; do sleep 1; done"), "running");
  const path = join(cwd, "pid");
  while (!existsSync(path) || readFileSync(path, "utf8") === "") await pause(5);
  const pid = Number(readFileSync(path, "utf8"));
  const order = [];
  const watched = {
    ...host,
    locks: { releaseAll: async () => void order.push(isAlive(pid) ? "too early" : "ended first") },
    terminal: { ...host.terminal, say: async () => undefined },
  };
  assert.equal(await load().run(host.start(["onloop", "--version"], {}), watched), 0);
  assert.deepEqual(order, ["ended first"]);
});

test("every version of a file has a name of its own", async (t) => {
  const { host } = begin(t);
  const versions = new Set();
  for (let round = 0; round < 500; round += 1) {
    versions.add(await host.files.write("a", workspace.bytes("same"), "any", false));
  }
  assert.equal(versions.size, 500);
});
