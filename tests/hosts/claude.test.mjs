// The real Claude Code with our hooks, an empty HOME and a model on loopback.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { failsClosed, guards, upgrades } from "./claims.mjs";
import { claude, machine, onloop } from "./clients.mjs";

const ran = (project) => !existsSync(join(project, "victim"));
const about = { denied: "rm -rf victim", ran };
guards(claude, about);
upgrades(claude, about);
failsClosed(claude, ["that is gone", "that fails", "that is killed"], ["that stops in the middle of its answer"]);

test("commands, skills and agents are found after an installation", async () => {
  const place = machine(claude);
  await onloop(place, "install", "claude");
  const words = ["--output-format", "stream-json", "--verbose"];
  const { stdout } = await claude.session(place, [], { words });
  const start = stdout.split("\n").map((line) => JSON.parse(line || "{}")).find(({ subtype }) => subtype === "init");
  for (const name of ["loop", "resume", "write-plan", "execute-plan", "status"]) {
    assert.ok(start.slash_commands.includes(`hotl:${name}`), name);
  }
  assert.ok(start.skills.includes("onloop-loop"));
  assert.ok(start.agents.includes("rw-loop"));
});
