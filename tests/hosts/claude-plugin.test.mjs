// Our plugin in the real Claude Code, without an installation.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { lines } from "./claims.mjs";
import { claude, machine, repository, run } from "./clients.mjs";

test("plugin and marketplace are valid, and nothing is left to say about them", async () => {
  const place = machine(claude);
  const words = ["plugin", "validate", join(repository, "npm/plugin"), "--profile", "directory"];
  const said = await run("claude", words, place);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.match(said.stdout, /found nothing to report/);
  const root = await run("claude", ["plugin", "validate", repository], place);
  assert.equal(root.code, 0, root.stdout + root.stderr);
});

test("a plugin folder is enough to keep a denied line from running", async () => {
  const place = machine(claude);
  const words = ["--plugin-dir", join(repository, "npm/plugin")];
  const results = await lines(claude, place, ["rm -rf victim", "mkdir allowed"], { words });
  assert.ok(existsSync(join(place.project, "victim/file")));
  assert.match(results[0], /onloop \(/);
  assert.ok(existsSync(join(place.project, "allowed")), results[1]);
});
