// The adapters from npm through which Claude Code and Codex speak the Agent Client Protocol.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testIf } from "../../npm/test/support/all.mjs";
import { adapter, claude, codex } from "./clients.mjs";
import { drivenBy } from "./acp-runs.mjs";

/** Codex' own sandbox does not begin within another one: a person leaves one of them out. */
const unsandboxed = { ...codex, variables: (home) => ({ ...codex.variables(home), INITIAL_AGENT_MODE: "agent-full-access" }) };

/** The adapters, the client that each drives, and options of its runs. */
const ADAPTERS = [
  [claude, "claude-agent-acp", []],
  [unsandboxed, "codex-acp", []],
  [codex, "codex-acp", ["--confine", "off"]],
];

for (const [client, name, options] of ADAPTERS) {
  testIf(client === unsandboxed)(`${[name, ...options].join(" ")} makes a file and continues its conversation`, async () => {
    const script = [{ run: "echo one > one.txt" }, { say: "Done." }, { run: "echo two > one.txt" }, { say: "Done." }];
    const { code, stderr, place, summary, heard } = await drivenBy(client, adapter(client, name), script, options);
    assert.equal(code, 0, `${stderr}\n${JSON.stringify(summary)}`);
    assert.equal(readFileSync(join(place.project, "one.txt"), "utf8"), "two\n");
    assert.equal(summary.steps[0].attempts, 2);
    assert.ok(heard.told.some((text) => text.includes("Make one.txt")), "the second turn has what the first was told");
  });
}

test("claude-agent-acp would decide itself, and asks our rules instead", async () => {
  const script = [{ run: "git push --force origin main" }, { run: "echo two > one.txt" }, { say: "Done." }];
  const { code, summary, heard } = await drivenBy(claude, adapter(claude, "claude-agent-acp"), script);
  assert.equal(code, 0, JSON.stringify(summary));
  assert.equal(summary.steps[0].denied, 1);
  assert.match(heard.results[0], /refused permission/);
});
