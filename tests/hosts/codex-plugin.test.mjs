// Our plugin in the real Codex, from a marketplace.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { codex, machine, run } from "./clients.mjs";
import { protects, source } from "./plugins.mjs";

/** As documented, with a clone in place of the URL. */
async function install(place, folder) {
  for (const words of [["marketplace", "add", folder], ["add", "hotl@onloop"]]) {
    const said = await run("codex", ["plugin", ...words], place);
    assert.equal(said.code, 0, said.stdout + said.stderr);
  }
}

protects(codex, install, {
  denied: "git stash drop; mkdir victim/denied",
  ran: (project) => existsSync(join(project, "victim/denied")),
  options: { words: [codex.trusted] },
});

test("the agent knows the plugin's skills", async () => {
  const place = machine(codex);
  await install(place, source());
  const ended = await codex.session(place, []);
  assert.equal(ended.code, 0, JSON.stringify(ended));
  for (const skill of ["onloop-loop", "onloop-verify"]) {
    assert.ok(ended.heard.rules.includes(skill), ended.heard.rules);
  }
});
