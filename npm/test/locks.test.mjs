// Both hosts lock against each other: real processes, one of them native.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Failure, NodeHost } from "../dist/index.js";
import { effects } from "./support/effects.mjs";
import { built, folder } from "./support/workspace.mjs";

const NODE = [process.execPath, new URL("support/holder.mjs", import.meta.url).pathname];
const NATIVE = [built("ONLOOP_TEST_PROBE")];
const HOSTS = { node: NODE, native: NATIVE };

/** A process that performs `words`; resolves after its first output or its end. */
async function begin([program, ...first], words, cwd) {
  const child = spawn(program, [...first, ...words], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await Promise.race([once(child.stdout, "data"), ended]);
  return { child, ended };
}

async function refused(host, path) {
  try {
    await host.lock({ path });
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  return undefined;
}

test("a lock names the role of its process", async (t) => {
  const cwd = folder(t);
  const host = effects(new NodeHost({ cwd }));
  const path = "a.lock";
  const roleOf = async () => (await host.holder({ path })).holder.role;
  for (const role of [undefined, "embedded", "server"]) {
    await host.lock({ path, role });
    const line = JSON.parse(readFileSync(join(cwd, "a.lock"), "utf8"));
    assert.equal(line.role, role);
    assert.equal(await roleOf(), role ?? null);
    await host.unlock({ path });
  }
  // An unknown role is no reason to interrupt the process.
  writeFileSync(join(cwd, "a.lock"), '{"pid":1,"host":"elsewhere","started":"","role":"orchestra"}\n');
  assert.equal(await roleOf(), "server");
});

test("an embedded core has a role", () => {
  assert.equal(new NodeHost().start(["onloop"]).role, "embedded");
});

for (const [name, program] of Object.entries(HOSTS)) {
  test(`a lock held by a ${name} process keeps others out, and its death lets them in`, async (t) => {
    const cwd = folder(t);
    const holder = await begin(program, ["hold", "a.lock"], cwd);
    t.after(() => holder.child.kill("SIGKILL"));
    const host = effects(new NodeHost({ cwd }));
    const failure = await refused(host, "a.lock");
    assert.equal(failure?.kind, "busy");
    assert.match(failure.message, new RegExp(`held by process ${holder.child.pid} since `));
    for (const other of Object.values(HOSTS)) {
      const [exit] = await (await begin(other, ["hold", "a.lock"], cwd)).ended;
      assert.equal(exit, 4, "a third process is refused");
    }
    holder.child.kill("SIGKILL");
    await holder.ended;
    assert.ok(existsSync(join(cwd, "a.lock")), "a killed process leaves its lock behind");
    assert.equal(await refused(host, "a.lock"), undefined);
    await host.unlock({ path: "a.lock" });
    assert.deepEqual(readdirSync(cwd), []);
  });

  test(`a ${name} process takes over the lock of a dead one of the other kind`, async (t) => {
    const cwd = folder(t);
    const other = program === NODE ? NATIVE : NODE;
    const dead = await begin(other, ["hold", "a.lock"], cwd);
    dead.child.kill("SIGKILL");
    await dead.ended;
    const heir = await begin(program, ["hold", "a.lock"], cwd);
    t.after(() => heir.child.kill("SIGKILL"));
    const line = JSON.parse(readFileSync(join(cwd, "a.lock"), "utf8"));
    assert.equal(line.pid, heir.child.pid);
  });
}

test("a holder with a held kernel lock counts as alive", async (t) => {
  const cwd = folder(t);
  const line = { pid: 2 ** 31 - 1, host: hostname(), started: "1", at: "then" };
  writeFileSync(join(cwd, "a.lock"), `${JSON.stringify(line)}\n`);
  const keeper = spawn("flock", ["a.lock", "sh", "-c", "echo held; exec sleep 60"], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => process.kill(-keeper.pid, "SIGKILL"));
  await once(keeper.stdout, "data");
  const failure = await refused(effects(new NodeHost({ cwd })), "a.lock");
  assert.equal(failure?.kind, "busy");
  assert.match(failure.message, /wait for it or end it/);
});

test("a lock is broken only if its holder has provably ended", async (t) => {
  const line = (more) => `${JSON.stringify({ pid: 2 ** 31 - 1, host: hostname(), started: "1", ...more })}\n`;
  const table = [
    [line({ host: "elsewhere" }), /on `elsewhere`; if that process has ended/],
    [line({ pid: process.pid, started: "" }), /wait for it or end it/],
    [line({ pid: 0 }), /does not name its holder/],
    [line({ pid: "1" }), /does not name its holder/],
    ["", /does not name its holder/],
    ["x".repeat(100_000), /does not name its holder/],
  ];
  for (const [text, expected] of table) {
    const cwd = folder(t);
    writeFileSync(join(cwd, "a.lock"), text);
    const failure = await refused(effects(new NodeHost({ cwd })), "a.lock");
    assert.match(failure?.message ?? "taken", expected);
    assert.equal(readFileSync(join(cwd, "a.lock"), "utf8"), text);
  }
});

test("many processes of both hosts count without a lost update", async (t) => {
  const cwd = folder(t);
  const rounds = 15;
  const programs = [NODE, NATIVE, NODE, NATIVE];
  const words = ["count", "a.lock", "counter", String(rounds)];
  const exits = await Promise.all(
    programs.map(async (program) => (await begin(program, words, cwd)).ended),
  );
  for (const [exit] of exits) assert.equal(exit, 0);
  assert.equal(readFileSync(join(cwd, "counter"), "utf8"), String(rounds * programs.length));
  assert.deepEqual(readdirSync(cwd), ["counter"]);
});
