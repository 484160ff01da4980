// Remains of a killed process: its programs and temporary files.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Failure, NodeHost } from "../dist/index.js";
import { effects, shell } from "./support/effects.mjs";
import { folder } from "./support/workspace.mjs";

const linux = { skip: process.platform !== "linux" && "only Linux tells about other processes" };

test("a whole process group is ended, and no other process", linux, async (t) => {
  const node = new NodeHost({ cwd: folder(t), attended: false });
  t.after(() => node.end());
  const { process: run, wait, end_group } = effects(node);
  const { group } = await run(shell("sleep 1000 & exec sleep 1000", { announce: true }));
  const here = hostname();
  const ended = async (group, host) => (await end_group({ group, host })).survivors;
  const earlier = String(BigInt(group.started) - 1n);
  assert.equal(await ended({ ...group, started: earlier }, here), 0);
  assert.equal(await ended({ ...group, boot: "another" }, here), 0);
  const refused = [
    [group, "elsewhere", "unsupported"],
    [{ ...group, started: "" }, here, "unsupported"],
    [{ ...group, pid: 1 }, here, "invalid"],
    [{ ...group, pid: 0 }, here, "invalid"],
  ];
  for (const [other, host, kind] of refused) {
    const isKind = (error) => error instanceof Failure && error.kind === kind;
    await assert.rejects(ended(other, host), isKind);
  }
  assert.ok((await ended(group, here)) >= 1);
  assert.deepEqual((await wait()).status, { signalled: 15 });
  assert.equal(await ended(group, here), 0);
});

test("the ancestors begin with our parent", linux, async (t) => {
  const { processes: above } = await effects(new NodeHost({ cwd: folder(t) })).ancestors();
  assert.equal(above[0].pid, process.ppid);
  assert.match(above[0].started, /^[0-9]+$/);
});

test("the next writer removes temporary files of ended processes", linux, async (t) => {
  const cwd = folder(t);
  const { pid: dead } = spawnSync("true");
  const place = `${hostname().replace(/[^0-9A-Za-z.]/g, "_")}.${statSync("/proc/self/ns/pid").ino}`;
  const stay = [`.onloop-elsewhere.1-${dead}-1-0.tmp`, `.onloop-${place}-${process.pid}--0.tmp`];
  for (const name of [...stay, `.onloop-${place}-${dead}-1-0.tmp`]) {
    writeFileSync(join(cwd, name), "");
  }
  await effects(new NodeHost({ cwd })).write({ path: "a", bytes: new Uint8Array(0) });
  assert.deepEqual(readdirSync(cwd).sort(), [...stay, "a"].sort());
});
