// Hooks that call the program in Node, installed by that program.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { isLong } from "./support/all.mjs";
import { temporaryFolder } from "./support/temporary.mjs";
import * as workspace from "./support/workspace.mjs";
import { npmFolder } from "./support/workspace.mjs";

const HOSTS = ["claude", "codex", "cursor", "vscode", "opencode", "cline", "copilot"];
const script = realpathSync(join(npmFolder, "bin/onloop.mjs"));

const top = realpathSync(temporaryFolder("onloop install ü-"));
after(() => rmSync(top, { recursive: true, force: true }));

test("every client gets a hook that runs in Node and denies", () => {
  const cwd = join(top, "a project");
  mkdirSync(cwd);
  const env = { ...workspace.environment(top), ONLOOP_BINARY: "" };
  const onloop = (...words) => workspace.run([process.execPath], [script, ...words], { cwd, env });
  const before = workspace.tree(top);
  for (const host of isLong ? HOSTS : ["claude", "codex"]) {
    // Node starts slowly; the tests of the native program check the paths of files.
    for (const scope of host === "claude" ? ["user", "project"] : ["project"]) {
      const installed = onloop("install", host, "--scope", scope);
      assert.equal(installed.exit, 0, installed.stderr);
      const tried = onloop("doctor", host);
      assert.equal(tried.exit, 0, tried.stdout);
      assert.match(tried.stdout, new RegExp(`✓ ${scope}: `));
      if (host === "claude" && scope === "project") {
        const settings = JSON.parse(readFileSync(join(cwd, ".claude/settings.json"), "utf8"));
        const { command, args } = settings.hooks.PreToolUse[0].hooks[0];
        assert.deepEqual([command, ...args.slice(0, 3)], [process.execPath, script, "hook", "claude"]);
      }
      const gone = onloop("uninstall", host);
      assert.equal(gone.exit, 0, gone.stderr);
    }
  }
  assert.deepEqual(workspace.tree(top), before);
});
