// The built-in tools of `@rw-auto`, with hostile input on real files.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { load as loadCore } from "onloop";
import { temporaryFolder } from "../../test/support/temporary.mjs";
import { load } from "./support/modules.mjs";

const core = loadCore();
const { CHAT_TOOLS, useChatTool } = await load("chat_tools");
const { CALLS, converse } = await load("chat_agent");
const folders = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function around(more = {}) {
  const outside = realpathSync(temporaryFolder("onloop-vscode-"));
  folders.push(outside);
  const folder = join(outside, "work");
  mkdirSync(join(folder, "src"), { recursive: true });
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(outside, "secret"), "secret\n");
  writeFileSync(join(folder, "src/a.txt"), "one\ntwo\nthree\n");
  writeFileSync(join(folder, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync(outside, join(folder, "out"));
  symlinkSync(join(outside, "new"), join(folder, "dangling"));
  const asked = [];
  const ask = async (command) => (asked.push(command), false);
  return { core, folder, outside, confine: undefined, signal: new AbortController().signal, asked, ask, doing() {}, ...more };
}

test("files are read, listed, found, written and edited", async () => {
  const place = around();
  const use = (name, input) => useChatTool(name, input, place);
  assert.equal(await use("rw_read", { path: "src/a.txt" }), "one\ntwo\nthree\n");
  assert.equal(await use("rw_read", { path: "src/a.txt", from_line: 3 }), "three\n");
  assert.equal(await use("rw_list", { path: "src" }), "a.txt");
  assert.equal(await use("rw_search", { text: "two" }), "src/a.txt:2: two");
  assert.equal(await use("rw_search", { text: "four" }), "not found");
  assert.equal(await use("rw_write", { path: "docs/new/b.md", content: "# B\n" }), "written");
  assert.equal(readFileSync(join(place.folder, "docs/new/b.md"), "utf8"), "# B\n");
  assert.equal(await use("rw_edit", { path: "src/a.txt", old: "two\n", new: "$&2\n" }), "edited");
  assert.equal(readFileSync(join(place.folder, "src/a.txt"), "utf8"), "one\n$&2\nthree\n");
  assert.equal(await use("rw_edit", { path: "src/a.txt", old: "e", new: "" }), "failed: `old` occurs 3 times, expected exactly once");
  await use("rw_write", { path: "run.sh", content: "#!/bin/sh\ntrue\n" });
  assert.equal(statSync(join(place.folder, "run.sh")).mode & 0o777, 0o755);
});

test("tools read and write nothing outside of the folder or in `.git`", async () => {
  const place = around();
  const refused = /^failed: (the path leads out of the workspace|agents may not use `.git` and `.hotl`|`path` is missing; expected text)$/;
  for (const path of ["../secret", join(place.outside, "secret"), "out/secret", "out", "src/../../secret", ".git/config", ".GIT/../.git/hooks/x", "", 7, null]) {
    assert.match(await useChatTool("rw_read", { path }, place), refused, String(path));
    assert.match(await useChatTool("rw_write", { path, content: "x" }, place), refused, String(path));
  }
  // A link to a missing file leads out as well.
  assert.match(await useChatTool("rw_write", { path: "dangling", content: "x" }, place), /^failed: /);
  assert.equal(existsSync(join(place.outside, "new")), false);
  assert.equal(readFileSync(join(place.outside, "secret"), "utf8"), "secret\n");
});

test("commands are decided as for other agents", async () => {
  const place = around();
  const run = (command, more = {}) => useChatTool("rw_run", { command }, { ...place, ...more });
  assert.equal(await run("ls src"), "exit 0\na.txt\n");
  assert.match(await run("rm -rf /"), /^refused \(.+\): /);
  assert.deepEqual(place.asked, []);
  assert.equal(await run("./run.sh --now"), "refused: the person did not allow it");
  assert.deepEqual(place.asked, ["./run.sh --now"]);
  assert.equal(await run("./run.sh; exit 3", { ask: async () => true }), "exit 3\n");
});

test("files are decided as for other agents", async () => {
  const place = around();
  const use = (name, input, more = {}) => useChatTool(name, input, { ...place, ...more });
  writeFileSync(join(place.folder, ".env"), "KEY=two\n");
  assert.match(await use("rw_read", { path: ".env" }), /^refused \(path:secret\): /);
  assert.equal(await use("rw_search", { text: "two" }), "src/a.txt:2: two");
  // The file has the rules for the next call.
  assert.match(await use("rw_write", { path: ".agentize.local.yaml", content: "permissions: {}\n" }), /^refused \(path:secret\): /);
  const edited = { path: ".env", old: "two", new: "three" };
  assert.match(await use("rw_edit", edited), /^refused \(path:secret\): /);
  assert.deepEqual(place.asked, []);
  // Planner and loop may write their files, but not the pause file or files that run automatically.
  assert.equal(await use("rw_write", { path: ".ai/PROGRESS.md", content: "| TASK-01 |\n" }), "written");
  assert.equal(await use("rw_edit", { path: ".ai/PROGRESS.md", old: "01", new: "02" }), "edited");
  assert.match(await use("rw_write", { path: ".ai/PAUSE.md", content: "" }), /^refused \(path:control\): /);
  assert.deepEqual(place.asked, []);
  const task = { path: ".vscode/tasks.json", content: "{}\n" };
  assert.equal(await use("rw_write", task), "refused: the person did not allow it");
  assert.deepEqual(place.asked, ["Write .vscode/tasks.json"]);
  assert.equal(await use("rw_write", task, { ask: async () => true }), "written");
  assert.match(await use("rw_read", { path: ".GIT/config" }), /^failed: agents may not use `.git` and `.hotl`$/);
});

test("running commands end with the request", async () => {
  const controller = new AbortController();
  const place = around({ signal: controller.signal, ask: async () => true, doing: (words) => words.startsWith("Running") && setImmediate(() => controller.abort()) });
  assert.equal(await useChatTool("rw_run", { command: "sleep 600 & sleep 600" }, place), "exit SIGKILL\n");
});

test("every tool has a description, and a turn has a limit", async () => {
  for (const { name, description, inputSchema } of CHAT_TOOLS) {
    assert.ok(description.length > 30, name);
    assert.ok(inputSchema.required.every((key) => key in inputSchema.properties), name);
  }
  const calls = Array.from({ length: CALLS + 1 }, (_, at) => ({ call: String(at), tool: "look", input: {} }));
  let used = 0;
  const turns = [calls, [{ text: "done" }]];
  const heard = [];
  const model = {
    async *say(messages) {
      heard.push(messages.at(-1));
      yield* turns[heard.length - 1];
    },
    use: async () => (used += 1),
    refuse: (why) => why,
  };
  assert.equal(await converse(model, "x", () => {}), "done");
  assert.equal(used, CALLS);
  assert.equal(heard[1].results.at(-1).result, `at most ${CALLS} tools can be used in one turn`);
});
