// Redaction of logs, with a table that core shares.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { NodeHost, load } from "../dist/index.js";
import { effects, shell } from "./support/effects.mjs";
import { folder } from "./support/workspace.mjs";

const table = JSON.parse(readFileSync(new URL("../../core/effect/src/redact/table.json", import.meta.url), "utf8"));

test("a log keeps the beginning and the end of the output", async (t) => {
  const cwd = folder(t);
  const host = effects(new NodeHost({ cwd, attended: false }));
  await host.write({ path: "a.log", bytes: Buffer.from("earlier\n") });
  const line = "echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo last";
  await host.process(shell(line, { stream_to: "a.log" }));
  const log = readFileSync(join(cwd, "a.log"), "utf8");
  const kept = 8 * 1024 * 1024;
  const between = `x\n[… ${20_000_011 - 2 * kept} bytes not kept …]\nx`;
  assert.equal(log.length, 8 + kept + between.length - 2 + kept);
  assert.ok(log.startsWith("earlier\nfirst\nx") && log.endsWith("xlast\n"));
  assert.equal(log.indexOf(between), 8 + kept - 1);
});

for (const { what, env, text, clean } of table) {
  test(`a log has no secrets: ${what}`, async (t) => {
    const cwd = folder(t);
    const host = effects(new NodeHost({ cwd, attended: false }));
    const secrets = load().secrets(env);
    // Two writes, often split within a secret.
    for (const cut of [1, Math.floor(Buffer.byteLength(text) / 2), Buffer.byteLength(text)]) {
      const line = `head -c ${cut} text; sleep 0.05; tail -c +${cut + 1} text`;
      await host.write({ path: "text", bytes: Buffer.from(text) });
      await host.process(shell(line, { stream_to: `${cut}.log`, secrets }));
      assert.equal(readFileSync(join(cwd, `${cut}.log`), "utf8"), clean);
    }
  });
}
