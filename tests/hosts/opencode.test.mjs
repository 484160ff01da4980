// The real opencode with our plugin, an empty HOME and a model on loopback.

import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { machine as place, opencode, run } from "./clients.mjs";
import { completions } from "./model.mjs";

function machine() {
  return place((home) => ({
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_STATE_HOME: join(home, ".local/state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  }));
}

/** Lets the agent run these lines; what its tool said about each. */
async function session(place, lines) {
  const model = await completions(lines);
  try {
    const options = { baseURL: `${model.url}/v1`, apiKey: "x" };
    const models = { fake: { name: "fake", tool_call: true } };
    const provider = { fake: { npm: "@ai-sdk/openai-compatible", name: "fake", options, models } };
    const config = { provider, model: "fake/fake", permission: { bash: "allow" } };
    writeFileSync(join(place.project, "opencode.json"), JSON.stringify(config));
    const ended = await run(opencode(), ["run", "go"], place);
    assert.equal(ended.code, 0, JSON.stringify(ended));
    assert.equal(model.results.length, lines.length, JSON.stringify(ended));
    return model.results;
  } finally {
    model.close();
  }
}

const LINES = ["rm -rf victim", "mkdir allowed"];

test("without the plugin the stand-in really lets the agent run its lines", async () => {
  const place = machine();
  await session(place, LINES);
  assert.ok(!existsSync(join(place.project, "victim")));
  assert.ok(existsSync(join(place.project, "allowed")));
});

test("the plugin keeps a denied line from running and lets an allowed one run", async () => {
  for (const scope of ["user", "project"]) {
    const place = machine();
    assert.equal((await run("onloop", ["install", "opencode", "--scope", scope], place)).code, 0);
    const results = await session(place, LINES);
    assert.ok(existsSync(join(place.project, "victim/file")), "the denied line did not run");
    assert.match(results[0], /onloop \(/);
    assert.ok(existsSync(join(place.project, "allowed")), `the allowed line ran: ${results[1]}`);
    const doctor = await run("onloop", ["doctor", "opencode"], place);
    assert.equal(doctor.code, 0, doctor.stdout);
  }
});

test("a plugin whose program is gone lets nothing run", async () => {
  const place = machine();
  assert.equal((await run("onloop", ["install", "opencode"], place)).code, 0);
  rmSync(place.bin);
  await session(place, ["mkdir made"]);
  assert.ok(!existsSync(join(place.project, "made")));
});
