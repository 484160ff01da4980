// The real Claude Code with our hooks, an empty HOME and a model on loopback.

import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { claude, machine as place, repository, run } from "./clients.mjs";
import { messages } from "./model.mjs";

const CLAUDE = claude();

function machine() {
  return place((home) => ({
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    ANTHROPIC_API_KEY: "sk-ant-fake",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    IS_SANDBOX: "1",
  }));
}

/** Lets the agent run these lines; what its tool said about each. */
async function session(place, lines, words = []) {
  const model = await messages(lines);
  try {
    const env = { ...place.env, ANTHROPIC_BASE_URL: model.url };
    const options = ["-p", "go", "--permission-mode", "bypassPermissions", "--output-format", "json"];
    const ended = await run(CLAUDE, [...options, ...words], { ...place, env });
    assert.equal(ended.code, 0, JSON.stringify(ended));
    assert.equal(model.results.length, lines.length, JSON.stringify(ended));
    return model.results;
  } finally {
    model.close();
  }
}

const LINES = ["rm -rf victim", "mkdir allowed"];

function isGuarded(place, results) {
  assert.ok(existsSync(join(place.project, "victim/file")), "the denied line did not run");
  assert.match(results[0], /onloop \(/);
  assert.ok(existsSync(join(place.project, "allowed")), `the allowed line ran: ${results[1]}`);
}

test("without hooks the stand-in really lets the agent run its lines", async () => {
  const place = machine();
  await session(place, LINES);
  assert.ok(!existsSync(join(place.project, "victim")));
  assert.ok(existsSync(join(place.project, "allowed")));
});

test("installed hooks keep a denied line from running and let an allowed one run", async () => {
  for (const scope of ["user", "project"]) {
    const place = machine();
    assert.equal((await run("onloop", ["install", "claude", "--scope", scope], place)).code, 0);
    isGuarded(place, await session(place, LINES));
    const doctor = await run("onloop", ["doctor", "claude"], place);
    assert.equal(doctor.code, 0, doctor.stdout);
  }
});

test("a hook whose program is gone lets nothing run", async () => {
  const place = machine();
  assert.equal((await run("onloop", ["install", "claude"], place)).code, 0);
  rmSync(place.bin);
  await session(place, ["mkdir made"]);
  assert.ok(!existsSync(join(place.project, "made")));
});

test("the plugin does the same without an installation", async () => {
  const place = machine();
  const words = ["--plugin-dir", join(repository, "npm/plugin")];
  isGuarded(place, await session(place, LINES, words));
});

test("plugin and marketplace are valid, and nothing is left to say about them", async () => {
  const place = machine();
  const plugin = ["plugin", "validate", join(repository, "npm/plugin"), "--profile", "directory"];
  const said = await run(CLAUDE, plugin, place);
  assert.equal(said.code, 0, said.stdout + said.stderr);
  assert.match(said.stdout, /found nothing to report/);
  const root = await run(CLAUDE, ["plugin", "validate", repository], place);
  assert.equal(root.code, 0, root.stdout + root.stderr);
});

test("commands, skills and agents are found after an installation", async () => {
  const place = machine();
  assert.equal((await run("onloop", ["install", "claude"], place)).code, 0);
  const model = await messages([]);
  const env = { ...place.env, ANTHROPIC_BASE_URL: model.url };
  const words = ["-p", "go", "--output-format", "stream-json", "--verbose"];
  const ended = await run(CLAUDE, words, { ...place, env });
  model.close();
  const start = ended.stdout.split("\n").map((line) => JSON.parse(line || "{}")).find(({ subtype }) => subtype === "init");
  for (const name of ["loop", "resume", "write-plan", "execute-plan", "status"]) {
    assert.ok(start.slash_commands.includes(`hotl:${name}`), name);
  }
  assert.ok(start.skills.includes("onloop-loop"));
  assert.ok(start.agents.includes("rw-loop"));
});
