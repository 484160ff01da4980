// The same command lines through the native program and through the package: same output, same
// exit code, same files, byte for byte.

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { NodeHost, load } from "../dist/index.js";
import { GATED, IN_GIT, PLACE, SCENARIOS, WF } from "./support/scenarios.mjs";
import * as workspace from "./support/workspace.mjs";
import { built, folder, npmFolder, repository } from "./support/workspace.mjs";

const NATIVE = [built("ONLOOP_TEST_NATIVE")];
const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];

/** What the command lines say and leave behind, with names of this very place taken out. */
function play(t, command, files, lines, inGit) {
  const top = folder(t);
  const cwd = join(top, PLACE);
  const home = join(top, "home");
  for (const made of [cwd, home]) mkdirSync(made);
  const env = workspace.environment(home);
  workspace.write(cwd, files);
  if (inGit) workspace.commitAll(cwd, env);
  // Commits have a time that git takes from the clock, and runs of rw-auto a name of their own.
  const local = (text) =>
    text
      .replaceAll(top, "TOP")
      .replace(/\b[0-9a-f]{40}\b/g, "COMMIT")
      .replace(/\brw-\d{8}T\d{6}Z-\d+-[0-9a-f]+/g, "RUN");
  const ends = [];
  const fill = (word) => ({ ID: () => firstRun(top), RESULT: () => awaited(ends) })[word]?.() ?? word;
  let input;
  for (const line of lines) {
    if (line.files) {
      const entries = Object.entries(line.files).map(([path, text]) => [fill(path), text]);
      workspace.write(cwd, Object.fromEntries(entries));
      continue;
    }
    if (line.input) {
      ({ input } = line);
      continue;
    }
    const known = line.run ?? [...command, ...line.map(fill)];
    const end = workspace.run([known[0]], known.slice(1), { cwd, env, input, timeout: 60_000 });
    ends.push({ line, exit: end.exit, said: end.stdout, stdout: local(end.stdout), stderr: local(end.stderr) });
    input = undefined;
  }
  for (const end of ends) delete end.said;
  const found = Object.entries(workspace.tree(top)).filter(([path]) => !path.startsWith("origin.git"));
  return { ends, files: found.map(([path, text]) => [local(path), local(text)]) };
}

/** The file that rw-auto asked for last. */
function awaited(ends) {
  const lines = ends.flatMap(({ said }) => said.split("\n"));
  return JSON.parse(lines.findLast((line) => line.startsWith('{"dispatch"'))).dispatch.result_file;
}

function firstRun(top) {
  const found = Object.keys(workspace.tree(top)).find((path) => path.includes(".hotl/state/"));
  return found === undefined ? "none" : basename(found, ".json");
}

function compare(t, files, lines, inGit) {
  const native = play(t, NATIVE, files, lines, inGit);
  const packaged = play(t, PACKAGE, files, lines, inGit);
  for (const [at, end] of packaged.ends.entries()) {
    const expected = native.ends[at];
    // Who made the result is said beside it.
    if (end.line[0] === "--version") end.stderr = expected.stderr;
    assert.deepEqual(end, expected, JSON.stringify(end.line));
  }
  assert.deepEqual(packaged.files, native.files);
  return native;
}

for (const [name, [files, ...lines]] of Object.entries(SCENARIOS)) {
  test(name, (t) => void compare(t, files, lines, false));
}
for (const [name, [files, ...lines]] of Object.entries(IN_GIT)) {
  test(name, (t) => void compare(t, files, lines, true));
}

test("scenarios do what their names say", (t) => {
  const [files, ...lines] = SCENARIOS["a run without git"];
  const { ends } = play(t, PACKAGE, files, lines, false);
  assert.equal(ends[0].exit, 0, ends[0].stderr);
  assert.match(ends[0].stderr, /✓ Step 1: Count up \(3 attempts\)/);
  assert.match(ends.at(-1).stdout, /Step 2: Approve - Auto-approved/);
  const exits = (name) => {
    const [files, ...lines] = IN_GIT[name] ?? SCENARIOS[name];
    return play(t, PACKAGE, files, lines, name in IN_GIT).ends.map(({ exit }) => exit);
  };
  assert.deepEqual(exits("work that is merged"), [0, 0, 1, 1, 0, 0, 0, 0, 0]);
  assert.deepEqual(exits("work that is published"), [0, 1, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(exits("rw-auto by itself"), [0, 0, 14, 0, 0, 11]);
});

test("a run begun by one host is continued by the other", (t) => {
  const hosts = { native: NATIVE, package: PACKAGE };
  const left = [];
  for (const [first, second] of [["native", "package"], ["package", "native"], ["native", "native"]]) {
    const cwd = folder(t);
    const env = workspace.environment(cwd);
    workspace.write(cwd, { [WF]: GATED });
    const paused = workspace.run(hosts[first], ["run", "--mode", "none"], { cwd, env });
    assert.equal(paused.exit, 3, paused.stderr);
    const id = firstRun(cwd);
    const words = [["gate", "2", "approved", "--run-id", id], ["resume", id]];
    const ends = words.map((line) => workspace.run(hosts[second], line, { cwd, env }));
    assert.deepEqual(ends.map(({ exit }) => exit), [0, 0], ends.map(({ stderr }) => stderr).join(""));
    left.push(Object.fromEntries(Object.entries(workspace.tree(cwd)).map(([path, text]) => [path, text.replaceAll(cwd, "HERE")])));
  }
  assert.deepEqual(left[0], left[2]);
  assert.deepEqual(left[1], left[2]);
});

test("examples run the same", (t) => {
  const examples = join(repository, "docs/examples");
  for (const name of existsSync(examples) ? readdirSync(examples) : []) {
    if (!readdirSync(join(examples, name)).some((file) => file.startsWith("hotl-workflow"))) continue;
    const results = [NATIVE, PACKAGE].map((command) => {
      const top = folder(t);
      const cwd = join(top, "project");
      cpSync(join(examples, name), cwd, { recursive: true });
      const env = workspace.environment(top);
      workspace.commitAll(cwd, env);
      const { exit, stdout, stderr } = workspace.run(command, ["run"], { cwd, env, timeout: 60_000 });
      const files = Object.entries(workspace.tree(top)).map(([path, text]) => [path, text.replaceAll(top, "TOP")]);
      return { exit, stdout: stdout.replaceAll(top, "TOP"), stderr: stderr.replaceAll(top, "TOP"), files };
    });
    assert.deepEqual(results[1], results[0], name);
  }
});

test("every file of the corpora is read the same", async (t) => {
  const corpora = [
    join(repository, "tests/corpus"),
    process.env.ONLOOP_CORPUS ?? join(repository, "../shared/corpus"),
  ].filter((path) => existsSync(path));
  if (corpora.length === 0) t.diagnostic("no corpus found; set ONLOOP_CORPUS to its folder");
  for (const corpus of corpora) {
    const files = Object.keys(workspace.tree(corpus)).filter((path) => path.endsWith(".md"));
    assert.notEqual(files.length, 0, `${corpus} has no workflow files`);
    const env = workspace.environment(folder(t));
    const lines = [
      ["lint", "--format", "json", ...files],
      ["lint", "--format", "hotl", ...files],
      ...files.map((file) => ["normalize", "--json", file]),
    ];
    for (const words of lines) {
      const native = workspace.run(NATIVE, words, { cwd: corpus, env });
      assert.deepEqual(await here(words, corpus), native, words.at(-1));
    }
  }
});

/** The same in this process, because starting one for each file takes its time. */
async function here(words, cwd) {
  const host = new NodeHost({ cwd, frozenMs: 0, attended: false });
  const said = { result: "", note: "" };
  const terminal = {
    ask: (question) => host.terminal.ask(question),
    say: async (to, text) => {
      said[to] += stripVTControlCharacters(text);
    },
  };
  const start = host.start(["onloop", ...words], {});
  const exit = await load().run(start, { ...host, terminal });
  return { exit, stdout: said.result, stderr: said.note };
}

test("a native program is preferred where one is named, and said to be", (t) => {
  const cwd = folder(t);
  const env = workspace.environment(cwd, { ONLOOP_BINARY: NATIVE[0] });
  const version = workspace.run(PACKAGE, ["--version"], { cwd, env });
  assert.equal(version.stdout, `onloop ${JSON.parse(readFileSync(join(npmFolder, "package.json"))).version}\n`);
  assert.equal(version.stderr, `native program \`${NATIVE[0]}\`, named by \`ONLOOP_BINARY\`\n`);
  assert.equal(workspace.run(PACKAGE, ["frobnicate"], { cwd, env }).exit, 2);
  const itself = { ...env, ONLOOP_BINARY: PACKAGE[1] };
  const again = workspace.run(PACKAGE, ["--version"], { cwd, env: itself, timeout: 60_000 });
  assert.match(again.stderr, /^WebAssembly in Node /);
  const missing = workspace.run(PACKAGE, ["status"], { cwd, env: { ...env, ONLOOP_BINARY: "./none" } });
  assert.equal(missing.exit, 4);
  assert.match(missing.stderr, /^error: cannot run `\.\/none`, named by `ONLOOP_BINARY`: /);
});
