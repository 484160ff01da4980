// The real Codex with our hooks, an empty HOME and a model on loopback.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { codex, machine as place, run } from "./clients.mjs";
import { responses } from "./model.mjs";

const TRUSTED = "--dangerously-bypass-hook-trust";

function machine() {
  return place((home) => ({ CODEX_HOME: join(home, ".codex"), FAKE_KEY: "x" }));
}

/** Lets the agent run these lines; what its tool said about each. */
async function session(place, lines, words = []) {
  const model = await responses(lines);
  try {
    mkdirSync(join(place.home, ".codex"), { recursive: true });
    const config = `model = "fake"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"
base_url = "${model.url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n`;
    writeFileSync(join(place.home, ".codex/config.toml"), config);
    const options = ["exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access"];
    const ended = await run(codex(), [...options, ...words, "go"], place);
    assert.equal(ended.code, 0, JSON.stringify(ended));
    assert.equal(model.results.length, lines.length, JSON.stringify(ended));
    return model.results;
  } finally {
    model.close();
  }
}

// Codex itself refuses `rm -rf` where nobody can be asked; what we deny and it does not is this.
const LINES = ["cd victim && mkdir denied", "mkdir allowed"];

test("without hooks the stand-in really lets the agent run its lines", async () => {
  const place = machine();
  await session(place, LINES);
  assert.ok(existsSync(join(place.project, "victim/denied")));
  assert.ok(existsSync(join(place.project, "allowed")));
});

test("trusted hooks keep a denied line from running and let an allowed one run", async () => {
  const place = machine();
  assert.equal((await run("onloop", ["install", "codex"], place)).code, 0);
  const results = await session(place, LINES, [TRUSTED]);
  assert.ok(!existsSync(join(place.project, "victim/denied")), "the denied line did not run");
  assert.match(results[0], /onloop \(/);
  assert.ok(existsSync(join(place.project, "allowed")), `the allowed line ran: ${results[1]}`);
  const doctor = await run("onloop", ["doctor", "codex"], place);
  assert.equal(doctor.code, 0, doctor.stdout);
});

test("what we say about Codex is true: untrusted and broken hooks let everything run", async () => {
  const untrusted = machine();
  assert.equal((await run("onloop", ["install", "codex"], untrusted)).code, 0);
  await session(untrusted, ["mkdir made"]);
  assert.ok(existsSync(join(untrusted.project, "made")));

  const broken = machine();
  assert.equal((await run("onloop", ["install", "codex"], broken)).code, 0);
  rmSync(broken.bin);
  await session(broken, ["mkdir made"], [TRUSTED]);
  assert.ok(existsSync(join(broken.project, "made")));
});
