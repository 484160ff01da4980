// The real Codex with our hooks, an empty HOME and a model on loopback.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { testWithAll } from "../../npm/test/support/all.mjs";
import { BROKEN, guards, lines, runsWith, upgrades } from "./claims.mjs";
import { codex, machine, onloop, run } from "./clients.mjs";

// Codex itself refuses `rm -rf` without a person, so this is a line that only we deny.
const ran = (project) => existsSync(join(project, "victim/denied"));
const options = { words: [codex.trusted] };
const about = { denied: "git stash drop; mkdir victim/denied", ran, options };
guards(codex, about);
upgrades(codex, about);

test("what we ask about runs where Codex confines it, and not without a sandbox", async () => {
  for (const sandbox of ["workspace-write", "danger-full-access"]) {
    const place = machine(codex);
    await onloop(place, "install", "codex");
    const words = ["exec", "--json", "--skip-git-repo-check", "--sandbox", sandbox, codex.trusted, "go"];
    const script = [{ run: `python3 -c 'import os; os.mkdir("made")'` }];
    const ended = await codex.served(place, script, (place) => run("codex", words, place));
    assert.equal(ended.code, 0, JSON.stringify(ended));
    assert.equal(existsSync(join(place.project, "made")), sandbox === "workspace-write", JSON.stringify(ended));
  }
});

testWithAll("untrusted and broken hooks of Codex let everything run, as documented", async () => {
  const untrusted = machine(codex);
  await onloop(untrusted, "install", "codex");
  await lines(codex, untrusted, ["git stash drop; mkdir victim/denied"]);
  assert.ok(ran(untrusted.project));
  for (const script of Object.values(BROKEN)) assert.ok(await runsWith(codex, script, options), script);
});
