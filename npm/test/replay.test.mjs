// Recordings of the native program, replayed by the package.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { environment, folder, npmFolder } from "./support/workspace.mjs";

const TRACES = join(npmFolder, "../tests/traces");

function onloop(cwd, env, ...words) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(npmFolder, "bin/onloop.mjs"), ...words],
    { cwd, env, encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

for (const name of readdirSync(TRACES).filter((name) => name.endsWith(".jsonl"))) {
  test(`${name} is replayed request by request`, (t) => {
    const cwd = folder(t);
    const lines = readFileSync(join(TRACES, name), "utf8").split("\n");
    const requests = lines.filter((line) => line.startsWith('{"request"')).length;
    const { status, stdout, stderr } = onloop(cwd, environment(cwd), "replay", join(TRACES, name));
    const expected = `${requests} requests, as recorded by onloop 0.1.0 (native); exit code 0\n`;
    assert.deepEqual({ status, stdout }, { status: 0, stdout: expected }, stderr);
  });
}

test("what the package records is private and can be replayed", (t) => {
  const cwd = folder(t);
  const trace = join(cwd, "trace.jsonl");
  const env = environment(cwd);
  const secret = { ONLOOP_TRACE: trace, DEMO_TOKEN: "tok3n-tok3n-tok3n" };
  const recorded = onloop(cwd, { ...env, ...secret }, "lint", "tok3n-tok3n-tok3n.md");
  const text = readFileSync(trace, "utf8");
  assert.equal(statSync(trace).mode & 0o777, 0o600);
  assert.ok(text.startsWith('{"trace":1,"onloop":') && !text.includes("tok3n"), text);
  const { status, stdout, stderr } = onloop(cwd, env, "replay", trace);
  assert.equal(status, 0, stdout + stderr);
  assert.ok(stdout.endsWith(`(node); exit code ${recorded.status}\n`), stdout);
});
