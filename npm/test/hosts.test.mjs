// The native and the Node host in turns: shared runs, examples, and which program runs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isLong } from "./support/all.mjs";
import { here } from "./support/here.mjs";
import { GATED, STEPS, WF } from "./support/scenarios.mjs";
import * as workspace from "./support/workspace.mjs";
import { built, firstRun, folder, npmFolder, repository } from "./support/workspace.mjs";

const NATIVE = [built("ONLOOP_TEST_NATIVE")];
const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];

test("one host continues a run that the other started", (t) => {
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

/** Works until it is killed. A resumed run has the same agent, which then does nothing. */
const AGENT = "test -e begun && exit; echo >begun; echo $$ >agent; exec sleep 1000";

test("one host continues a run whose other host was killed", async (t) => {
  const hosts = { native: NATIVE, package: PACKAGE };
  const ends = [];
  for (const [first, second] of [["native", "package"], ["package", "native"], ["native", "native"]]) {
    const cwd = folder(t);
    const env = workspace.environment(cwd);
    workspace.write(cwd, { [WF]: STEPS });
    const words = ["run", "--mode", "none", "--agent-command", AGENT];
    const [program, ...rest] = [...hosts[first], ...words];
    const host = spawn(program, rest, { cwd, env, stdio: "ignore" });
    const agent = join(cwd, "agent");
    while (!existsSync(agent) || !readFileSync(agent, "utf8").endsWith("\n")) await pause(5);
    host.kill("SIGKILL");
    await once(host, "exit");
    // The killed host could not end it.
    process.kill(Number(readFileSync(agent, "utf8")), "SIGKILL");
    rmSync(agent);
    const lines = [["next"], ["resume"], ["resume", "--interrupted", "redo"], ["status", "--all"]];
    const local = (text) => text.replaceAll(cwd, "HERE");
    ends.push(
      lines.map((line) => {
        const { exit, stdout, stderr } = workspace.run(hosts[second], line, { cwd, env });
        return { line, exit, stdout: local(stdout), stderr: local(stderr) };
      }),
    );
  }
  assert.deepEqual(ends[0], ends[2]);
  assert.deepEqual(ends[1], ends[2]);
});

test("a run of rw-auto goes from host to host with every child", (t) => {
  const turns = { NPN: [NATIVE, PACKAGE, NATIVE], PNP: [PACKAGE, NATIVE, PACKAGE], NNN: [NATIVE, NATIVE, NATIVE] };
  const said = {};
  for (const [name, hosts] of Object.entries(turns)) {
    const cwd = folder(t);
    const env = workspace.environment(cwd);
    const onloop = (host, ...words) => {
      const { exit, stdout, stderr } = workspace.run(host, words, { cwd, env });
      assert.equal(exit, 0, stderr);
      return stdout;
    };
    onloop(NATIVE, "auto", "init");
    const answers = ["planned\nNEXT_COMMAND=rw-planner\n", "NEXT_COMMAND=done\n"];
    let last = onloop(hosts[0], "auto", "begin", "add a greeting");
    const heard = [last];
    for (const [at, answer] of answers.entries()) {
      const { dispatch } = JSON.parse(last.trimEnd().split("\n").at(-1));
      workspace.write(cwd, { [dispatch.result_file]: answer });
      last = onloop(hosts[at + 1], "auto", "resume", dispatch.result_file);
      heard.push(last);
    }
    said[name] = heard.join("").replace(/\brw-\d{8}T\d{6}Z-\d+-[0-9a-f]+/g, "RUN");
  }
  assert.match(said.NNN, /AUTO_CYCLE=2[^]*NEXT_COMMAND=done\n\{"stop"/);
  assert.equal(said.NPN, said.NNN);
  assert.equal(said.PNP, said.NNN);
});

test("examples run the same", (t) => {
  const examples = join(repository, "docs/examples");
  const hasWorkflow = (name) => readdirSync(join(examples, name)).some((file) => file.startsWith("hotl-workflow"));
  const names = (existsSync(examples) ? readdirSync(examples) : []).filter(hasWorkflow);
  for (const name of names.filter((_, at) => isLong || at % 3 === 0)) {
    const results = [NATIVE, PACKAGE].map((command) => {
      const top = folder(t);
      const cwd = join(top, "project");
      cpSync(join(examples, name), cwd, { recursive: true });
      const env = workspace.environment(top);
      workspace.commitAll(cwd, env);
      const { exit, stdout, stderr } = workspace.run(command, ["run"], { cwd, env, timeout: 60_000 });
      const local = (text) => workspace.withoutObserved(text).replaceAll(top, "TOP");
      const files = Object.entries(workspace.tree(top)).map(([path, text]) => [path, local(text)]);
      return { exit, stdout: local(stdout), stderr: local(stderr), files };
    });
    assert.deepEqual(results[1], results[0], name);
  }
});

test("both hosts read every file of the corpora alike", async (t) => {
  // Our files, and those of other people if they are installed.
  const corpora = [
    join(repository, "tests/corpus"),
    process.env.ONLOOP_CORPUS ?? join(repository, "../shared/corpus"),
  ].filter((path) => existsSync(path));
  assert.notEqual(corpora.length, 0);
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

test("a named native program is preferred, and `--version` says so", (t) => {
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
