// The plugin as it is published: a separate repository, made from committed files.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { testIf } from "../../npm/test/support/all.mjs";
import { temporaryFolder } from "../../npm/test/support/temporary.mjs";
import { lines } from "./claims.mjs";
import { codex, machine, repository } from "./clients.mjs";

const FOLDERS = [".agents", ".claude-plugin", "npm/plugin"];

const made = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A clone with the committed files of the plugin. */
export function source() {
  const folder = newFolder();
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", ...FOLDERS], { cwd: repository });
  for (const name of listed.toString().split("\0").filter((name) => name !== "")) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(repository, name), join(folder, name));
  }
  return committed(folder);
}

/** A clone of the published plugin. */
export function published() {
  const folder = newFolder();
  execFileSync(process.execPath, [join(repository, "npm/plugin-release.mjs"), folder]);
  return committed(folder);
}

function newFolder() {
  const folder = temporaryFolder("onloop-plugin-");
  made.push(folder);
  return folder;
}

function committed(folder) {
  const git = (...words) => execFileSync("git", ["-c", "user.name=me", "-c", "user.email=me@example.org", ...words], { cwd: folder });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=Begin");
  return folder;
}

/**
 * Tests a plugin with and without a program on the PATH. `install(place, folder)` installs it
 * from a clone; `about` is as for `guards`.
 */
export function protects(client, install, { denied, ran, options }) {
  const made = (place) => existsSync(join(place.project, "allowed"));
  const both = [denied, "mkdir allowed"];

  testIf(client === codex)("the plugin calls the program on the PATH", async () => {
    const place = machine(client);
    await install(place, source());
    await judges(place);
  });

  testIf(client === codex)("the published plugin needs nothing but Node", async () => {
    const place = machine(client);
    rmSync(place.bin);
    await install(place, published());
    await judges(place);
  });

  test("a plugin without a program denies every call, and says what to do", async () => {
    const place = machine(client);
    rmSync(place.bin);
    await install(place, source());
    const results = await lines(client, place, both, options);
    assert.ok(!ran(place.project) && !made(place), results.join("\n"));
    for (const result of results) assert.match(result, /docs\/install\.md/);
  });

  async function judges(place) {
    const results = await lines(client, place, both, options);
    assert.ok(!ran(place.project), "the denied line did not run");
    assert.match(results[0], /onloop \(/);
    assert.ok(made(place), `the allowed line ran: ${results[1]}`);
  }
}
