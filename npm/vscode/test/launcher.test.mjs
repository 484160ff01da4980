// The launcher of the extension's onloop.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { temporaryFolder } from "../../test/support/temporary.mjs";
import { load } from "./support/modules.mjs";

const { launcher } = await load("launcher");
const folder = temporaryFolder("onloop-vscode-");
after(() => rmSync(folder, { recursive: true, force: true }));

test("it starts the program with the editor's Node from any path, and passes its own path", () => {
  const place = join(folder, "it's a place");
  mkdirSync(place);
  const program = join(place, "program.js");
  writeFileSync(program, "console.log(JSON.stringify([process.env.ELECTRON_RUN_AS_NODE, ...process.argv.slice(2)]))");
  const { name, text } = launcher("linux", process.execPath, program);
  const path = join(place, name);
  writeFileSync(path, text, { mode: 0o755 });
  const env = { ...process.env, PATH: `${place}:${process.env.PATH}` };
  const said = execFileSync("onloop", ["run", "a b", "$HOME"], { env, encoding: "utf8" });
  assert.deepEqual(JSON.parse(said), ["1", path, "run", "a b", "$HOME"]);
});

test("on Windows it is a batch file", () => {
  const { name, text } = launcher("win32", "C:\\Code\\Code.exe", "C:\\e\\program.js");
  assert.equal(name, "onloop.cmd");
  assert.equal(text, '@echo off\r\nset ELECTRON_RUN_AS_NODE=1\r\n"C:\\Code\\Code.exe" "C:\\e\\program.js" "%~f0" %*\r\n');
});
