// The same command lines through the native program and through the package: same output, same
// exit code, same files, byte for byte.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { testIf } from "./support/all.mjs";
import { IN_GIT, PLACE, SCENARIOS } from "./support/scenarios.mjs";
import * as workspace from "./support/workspace.mjs";
import { built, firstRun, folder, npmFolder } from "./support/workspace.mjs";

const NATIVE = [built("ONLOOP_TEST_NATIVE")];
const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];

/** The output and files of command lines, without the names of this machine. */
function play(t, command, files, lines, inGit) {
  const top = folder(t);
  const cwd = join(top, PLACE);
  const home = join(top, "home");
  for (const made of [cwd, home]) mkdirSync(made);
  const env = workspace.environment(home);
  workspace.write(cwd, files);
  if (inGit) workspace.commitAll(cwd, env);
  // Commits have the time of git's clock, and runs of rw-auto a random name.
  const local = (text) =>
    workspace
      .withoutObserved(text)
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
    if (line.input !== undefined) {
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

/** The result file that rw-auto requested last. */
function awaited(ends) {
  const lines = ends.flatMap(({ said }) => said.split("\n"));
  return JSON.parse(lines.findLast((line) => line.startsWith('{"dispatch"'))).dispatch.result_file;
}

function compare(t, files, lines, inGit) {
  const native = play(t, NATIVE, files, lines, inGit);
  const packaged = play(t, PACKAGE, files, lines, inGit);
  for (const [at, end] of packaged.ends.entries()) {
    const expected = native.ends[at];
    // A file beside the result names its author.
    if (end.line[0] === "--version") end.stderr = expected.stderr;
    assert.deepEqual(end, expected, JSON.stringify(end.line));
  }
  assert.deepEqual(packaged.files, native.files);
  return native;
}

/** The exit codes of each scenario, because two hosts could agree on a mistake. */
const EXITS = {
  "a run in a simulation": [0, 0],
  "help and usage": [0, 0, 0, 2, 0, 0],
  "completions": [0, 0, 0],
  "a new file": [0, 2, 0],
  "lint in every form": [1, 1, 1, 1, 1, 1, 2, 0, 2],
  "nothing here": [2, 2, 0, 0, 4, 4, 2],
  "a run without git": [0, 0, 0, 0, 0, 0, 0],
  "a run that ends blocked": [1, 0, 0, 0],
  "a gate without a person": [3, 0, 0, 0],
  "an agent's output": [0, 0],
  "a command that does not end": [1],
  "one step after the other": [0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0],
  "a step that is blocked and a gate that is rejected": [0, 0, 0, 0, 1, 0],
  "tool calls": [3, 0, 0, 1, 1, 2, 0, 0, 0],
  "an agent session": [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0],
  "rw-auto by itself": [0, 14, 14, 0, 0, 11],
  "rw-auto with a host that starts the children": [0, 0, 0, 0, 0],
  "a run in a worktree": [0, 0, 0, 0],
  "a run on a branch": [0, 0],
  "uncommitted changes": [4, 0, 0],
  "work that is merged": [0, 0, 1, 1, 0, 0, 0, 0, 0],
  "work that does not go together": [0, 0, 0, 1, 0, 0],
  "work that is published": [0, 1, 0, 0, 0, 0, 0, 0],
  "a run that travels": [0, 0, 0, 2, 0, 0, 0, 0, 0],
  "work that is discarded": [1, 1, 0, 1, 0, 0],
  "a prepared place": [0, 1, 0, 4],
};

// Without `--all` every third one, of those without git and of those with it.
for (const [scenarios, inGit] of [[SCENARIOS, false], [IN_GIT, true]]) {
  for (const [at, [name, [files, ...lines]]] of Object.entries(scenarios).entries()) {
    testIf(at % 3 === 0)(name, (t) => {
      const exits = compare(t, files, lines, inGit).ends.map(({ exit }) => exit);
      assert.deepEqual(exits, EXITS[name]);
    });
  }
}
