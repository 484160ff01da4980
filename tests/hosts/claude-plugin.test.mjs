// Our plugin in the real Claude Code, from a marketplace.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { claude, machine, repository } from "./clients.mjs";
import { protects, source } from "./plugins.mjs";

test("plugin and marketplace are valid without warnings", async () => {
  const place = machine(claude);
  const folder = join(repository, "npm/plugin");
  const said = await claude.plugin(place, "validate", folder, "--profile", "directory");
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.match(said.stdout, /found nothing to report/);
  const root = await claude.plugin(place, "validate", repository);
  assert.equal(root.code, 0, root.stdout + root.stderr);
});

/** As documented, with a clone in place of the URL. */
async function install(place, folder) {
  for (const words of [["marketplace", "add", folder], ["install", "hotl@onloop"]]) {
    const said = await claude.plugin(place, ...words);
    assert.equal(said.code, 0, said.stdout + said.stderr);
  }
}

protects(claude, install, { denied: "rm -rf victim", ran: (project) => !existsSync(join(project, "victim")) });

test("everything in the plugin is found", async () => {
  const place = machine(claude);
  await install(place, source());
  const said = await claude.plugin(place, "details", "hotl@onloop");
  for (const part of ["loop", "resume", "onloop-verify", "rw-planner", "PreToolUse", "Stop"]) {
    assert.match(said.stdout, new RegExp(`\\b${part}\\b`), said.stdout);
  }
});
