// What outlives a killed process: its programs, its temporary files.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Failure, NodeHost } from "../dist/index.js";
import { folder } from "./support/workspace.mjs";

const linux = { skip: process.platform !== "linux" && "only Linux tells about other processes" };

function spec(line) {
  const command = { shell: "sh", line };
  const rest = { cwd: ".", envRemove: [], envSet: {}, captureBytes: 100, interactive: false };
  return { command, ...rest, announce: true };
}

test("a group is ended whole, and nobody who is not meant", linux, async (t) => {
  const { processes } = new NodeHost({ cwd: folder(t), attended: false });
  t.after(() => processes.endLeft());
  const { started: group } = await processes.run(spec("sleep 1000 & exec sleep 1000"));
  const here = hostname();
  const earlier = String(BigInt(group.started) - 1n);
  assert.equal(await processes.endGroup({ ...group, started: earlier }, here), 0);
  assert.equal(await processes.endGroup({ ...group, boot: "another" }, here), 0);
  const refused = [
    [group, "elsewhere", "unsupported"],
    [{ ...group, started: "" }, here, "unsupported"],
    [{ ...group, pid: 1 }, here, "invalid"],
    [{ ...group, pid: 0 }, here, "invalid"],
  ];
  for (const [other, host, kind] of refused) {
    const isKind = (error) => error instanceof Failure && error.kind === kind;
    await assert.rejects(processes.endGroup(other, host), isKind);
  }
  assert.ok((await processes.endGroup(group, here)) >= 1);
  assert.deepEqual((await processes.wait()).status, { signalled: 15 });
  assert.equal(await processes.endGroup(group, here), 0);
});

test("the way up begins with our parent", linux, async (t) => {
  const above = await new NodeHost({ cwd: folder(t) }).processes.ancestors();
  assert.equal(above[0].pid, process.ppid);
  assert.match(above[0].started, /^[0-9]+$/);
});

test("temporary files of the dead are removed by the next writer", linux, async (t) => {
  const cwd = folder(t);
  const { pid: dead } = spawnSync("true");
  const place = `${hostname().replace(/[^0-9A-Za-z.]/g, "_")}.${statSync("/proc/self/ns/pid").ino}`;
  const stay = [`.onloop-elsewhere.1-${dead}-1-0.tmp`, `.onloop-${place}-${process.pid}--0.tmp`];
  for (const name of [...stay, `.onloop-${place}-${dead}-1-0.tmp`]) {
    writeFileSync(join(cwd, name), "");
  }
  await new NodeHost({ cwd }).files.write("a", new Uint8Array(0), "any", false);
  assert.deepEqual(readdirSync(cwd).sort(), [...stay, "a"].sort());
});
