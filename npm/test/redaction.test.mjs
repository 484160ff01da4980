// What must not be in a log; the table is shared with the core.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { NodeHost, load } from "../dist/index.js";
import { folder } from "./support/workspace.mjs";

const table = JSON.parse(readFileSync(new URL("../../core/src/effect/redact/table.json", import.meta.url), "utf8"));

for (const { what, env, text, clean } of table) {
  test(`a log has no secrets: ${what}`, async (t) => {
    const cwd = folder(t);
    const host = new NodeHost({ cwd, attended: false });
    const secrets = load().secrets(env);
    // In two writes, in the middle of a secret as often as not.
    for (const cut of [1, Math.floor(Buffer.byteLength(text) / 2), Buffer.byteLength(text)]) {
      const line = `head -c ${cut} text; sleep 0.05; tail -c +${cut + 1} text`;
      await host.files.write("text", Buffer.from(text), "any", false);
      await host.processes.run({
        command: { shell: "sh", line },
        cwd: ".",
        envRemove: [],
        envSet: {},
        captureBytes: 1000,
        interactive: false,
        streamTo: `${cut}.log`,
        secrets,
      });
      assert.equal(readFileSync(join(cwd, `${cut}.log`), "utf8"), clean);
    }
  });
}
