// The real Codex with our hooks, an empty HOME and a model on loopback.

import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { guards, lines } from "./claims.mjs";
import { codex, machine, onloop } from "./clients.mjs";

// Codex itself refuses `rm -rf` where nobody can be asked; what we deny and it does not is this.
const ran = (project) => existsSync(join(project, "victim/denied"));
guards(codex, { denied: "cd victim && mkdir denied", ran, options: { words: [codex.trusted] } });

test("what we say about Codex is true: untrusted and broken hooks let everything run", async () => {
  const untrusted = machine(codex);
  await onloop(untrusted, "install", "codex");
  await lines(codex, untrusted, ["cd victim && mkdir denied"]);
  assert.ok(ran(untrusted.project));

  const broken = machine(codex);
  await onloop(broken, "install", "codex");
  rmSync(broken.bin);
  await lines(codex, broken, ["cd victim && mkdir denied"], { words: [codex.trusted] });
  assert.ok(ran(broken.project));
});
