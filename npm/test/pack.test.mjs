// The packed package, installed where people install it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { load } from "../dist/index.js";
import { testWithAll } from "./support/all.mjs";
import { temporaryFolder } from "./support/temporary.mjs";
import * as workspace from "./support/workspace.mjs";
import { npmFolder, repository } from "./support/workspace.mjs";

const WORKFLOW = `---
intent: One file
success_criteria: It is there
risk_level: low
---
- [ ] **Step 1: Write**
action: Write it.
loop: false
verify: test -f a.txt

\`\`\`sh
touch a.txt
\`\`\`
`;
const LINT = 'load().lint("hotl-workflow-a.md", "---\\nintent: a\\n---\\n")[0].code';
const EXPECTED = "missing-key\n";

const top = temporaryFolder("onloop pack ü-");
const project = join(top, "a project");
const tools = join(npmFolder, "node_modules");
after(() => rmSync(top, { recursive: true, force: true }));

const PLATFORM = `${process.platform}-${process.arch}`;
const tarballs = join(top, "tarballs");
const tarball = (pattern) => join(tarballs, readdirSync(tarballs).find((name) => pattern.test(name)));

/** Installs from an empty cache without a network, because the package has no dependencies. */
function install(cwd, ...paths) {
  workspace.write(cwd, { "package.json": '{ "name": "a", "private": true }' });
  const words = ["install", "--offline", "--no-audit", "--no-fund", "--cache", join(top, "cache")];
  execFileSync("npm", [...words, ...paths], { cwd, stdio: ["ignore", "pipe", "inherit"] });
}

before(() => {
  const native = `${PLATFORM}=${workspace.built("ONLOOP_TEST_NATIVE")}`;
  runs([process.execPath, join(npmFolder, "release.mjs"), tarballs, native], { cwd: top });
  install(project, tarball(/^onloop-\d/));
});

function runs(script, options = {}) {
  const [program, ...words] = script;
  const end = workspace.run([program], words, { cwd: project, ...options });
  assert.equal(end.exit, 0, end.stdout + end.stderr);
  return end.stdout;
}

test("the tarball has only the files that it needs", () => {
  const files = Object.keys(workspace.tree(join(project, "node_modules/onloop")));
  assert.ok(files.includes("README.md"));
  const known = /^(package\.json|README\.md|LICENSE[\w-]*|THIRD-PARTY-NOTICES\.txt|bin\/[\w-]+\.mjs|dist\/.+)$/;
  assert.deepEqual(files.filter((path) => !known.test(path)), []);
  // The packed files are those that the other tests ran.
  for (const name of ["onloop.wasm", "onloop-pure.wasm"]) {
    const [packed, tested] = [join(project, "node_modules/onloop"), npmFolder].map((folder) => readFileSync(join(folder, "dist", name)));
    assert.ok(packed.equals(tested), name);
  }
});

test("each tarball has its own licence and the notices of what is linked into it", () => {
  const unpacked = join(top, "platform");
  mkdirSync(unpacked);
  execFileSync("tar", ["-xzf", tarball(/^onloop-linux|^onloop-darwin|^onloop-win32/), "-C", unpacked]);
  const packages = [
    [join(project, "node_modules/onloop"), "serde_json", "hyper"],
    [join(unpacked, "package"), "hyper", "no-such-crate"],
  ];
  for (const [folder, linked, foreign] of packages) {
    const text = (name) => readFileSync(join(folder, name), "utf8");
    assert.match(text("LICENSE"), /LICENSE-APACHE[^]*LICENSE-MIT/);
    assert.match(text("LICENSE-APACHE"), /Apache License/);
    assert.match(text("LICENSE-MIT"), /Permission is hereby granted/);
    const crates = text("THIRD-PARTY-NOTICES.txt").split("\n").map((line) => line.split(" ")[0]);
    assert.ok(crates.includes(linked), linked);
    assert.ok(!crates.includes(foreign), foreign);
  }
});

test("Node loads it by import and by require", () => {
  workspace.write(project, {
    "a.mjs": `import { load } from "onloop"; console.log(${LINT});`,
    "a.cjs": `const { load } = require("onloop"); console.log(${LINT});`,
    "inline.mjs": `import { load } from "onloop/inline"; console.log(${LINT});`,
    "pure.cjs": `const { load } = require("onloop/pure"); console.log(${LINT});`,
    "pure-slim.mjs": `import { readFileSync } from "node:fs"; import { PureCore } from "onloop/slim";
      const wasm = readFileSync(new URL(import.meta.resolve("onloop/onloop-pure.wasm")));
      const load = () => new PureCore(wasm); console.log(${LINT});`,
    "slim.cjs": `const { Core } = require("onloop/slim");
      const wasm = require("node:fs").readFileSync(require.resolve("onloop/onloop.wasm"));
      const load = () => new Core(wasm); console.log(${LINT});`,
  });
  for (const file of ["a.mjs", "a.cjs", "inline.mjs", "slim.cjs", "pure.cjs", "pure-slim.mjs"]) {
    assert.equal(runs([process.execPath, file]), EXPECTED, file);
  }
});

test("a web worker loads it", () => {
  workspace.write(project, {
    "worker.mjs": `import { Worker, isMainThread, parentPort } from "node:worker_threads";
      import { load } from "onloop/inline";
      if (isMainThread) new Worker(new URL(import.meta.url)).on("message", (code) => console.log(code));
      else parentPort.postMessage(${LINT});`,
  });
  assert.equal(runs([process.execPath, "worker.mjs"]), EXPECTED);
});

testWithAll("a bundle for an extension host contains it", async () => {
  workspace.write(project, { "use.cjs": 'console.log(require("./extension.cjs").code);' });
  const shared = { absWorkingDir: project, entryPoints: ["extension.ts"], bundle: true, target: "es2022" };
  const sizes = {};
  for (const entry of ["inline", "pure"]) {
    workspace.write(project, { "extension.ts": `import { load } from "onloop/${entry}"; export const code: string = ${LINT};` });
    await build({ ...shared, outfile: "extension.cjs", format: "cjs", platform: "node" });
    assert.equal(runs([process.execPath, "use.cjs"]), EXPECTED, entry);
    sizes[entry] = readFileSync(join(project, "extension.cjs")).length;
  }
  // A bundle contains only one module.
  assert.ok(sizes.pure * 1.9 < sizes.inline, JSON.stringify(sizes));
  // Without any condition of Node the package is the inlined one.
  const browser = await build({
    ...shared,
    stdin: { contents: `import { load } from "onloop"; console.log(${LINT});`, resolveDir: project },
    entryPoints: undefined,
    format: "iife",
    platform: "browser",
    outfile: "page.js",
  });
  assert.deepEqual(browser.warnings, []);
  // Only the globals of a page, without those of Node.
  const page = `const { readFileSync } = require("node:fs"); const { createContext, runInContext } = require("node:vm");
    runInContext(readFileSync("page.js", "utf8"), createContext({ console, WebAssembly, TextEncoder, TextDecoder, FinalizationRegistry, atob }));`;
  workspace.write(project, { "page.cjs": page });
  assert.equal(runs([process.execPath, "page.cjs"]), EXPECTED);
});

/** Values of the published types; wrong types do not compile. */
function documents() {
  const core = load();
  const vectors = (name) => readFileSync(join(repository, "tests/vectors", name), "utf8").trim().split("\n").map(JSON.parse);
  const only = (object, names) => Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]));
  const calls = vectors("permissions.jsonl").slice(-60).map((line) => ({ cwd: "/w", ...only(line, ["tool", "input", "cwd", "home", "session", "git_branch", "config"]) }));
  const members = ["id", "profile", "now", "argument", "env", "tree", "health", "health_patch", "children"];
  const scenarios = vectors("auto.jsonl").slice(0, 60).map((line) => only(line, members));
  const record = core.begin("hotl-workflow-a.md", WORKFLOW, { at_ms: 0 });
  const prompts = vectors("session-commands.jsonl").map(({ prompt }) => prompt);
  const sessions = prompts.map((prompt) => core.sessionBegin("s1", prompt, 0)).filter((session) => session !== undefined);
  const stop = { max_continuations: 1, file: "f", resume: "r", host_cap: { in_a_row: 8 }, message: null, run: record };
  const sessionViews = sessions.map((session) => core.sessionView("s1", session));
  const sessionAnswers = sessions.flatMap((session) => {
    const first = core.sessionStopped("s1", session, 0, stop);
    return [first, core.sessionStopped("s1", first.session, 0, { ...stop, run: null })];
  });
  const claude = (hook_event_name, more) => core.hookEvent("claude", JSON.stringify({ hook_event_name, ...more }));
  const used = { tool_name: "Bash", tool_input: { command: "ls" } };
  const values = {
    "ToolCall[]": calls,
    "Ruling[]": calls.map((call) => core.decide(call)),
    "Explanation[]": calls.map((call) => core.explain(call)),
    "Scenario[]": scenarios,
    "Rehearsal[]": scenarios.map((scenario) => core.rehearse(scenario)),
    "Diagnostic[]": core.lint("hotl-workflow-a.md", WORKFLOW.replace("loop: false\n", "")),
    Next: core.next(record),
    RunView: core.view(record),
    Receipt: core.receipt(record),
    "Started[]": prompts.map((prompt) => core.startedBy(prompt)).filter((started) => started !== undefined),
    SessionStop: stop,
    "SessionView[]": sessionViews,
    "SessionAnswer[]": sessionAnswers,
    SessionConfig: core.readConfig("handsoff:\n  max_continuations: x\n", "/w"),
    "HookEvent[]": [claude("UserPromptSubmit", { prompt: "hi" }), claude("PreToolUse", used), claude("PostToolUse", used), claude("Stop"), claude("SessionStart")],
    "HookAnswer[]": [{}, { decision: "defer" }, { continue: "a" }, { system_message: "b" }],
    Progress: core.readProgress("| TASK-01 | One | pending | - |\n"),
    Feature: core.readFeature("Status: READY_FOR_PLAN\n"),
    Route: core.route("v1", { context: true, tasks: null, ready_feature: false, artifacts: false, summary: false }),
  };
  const lines = Object.entries(values).map(([type, value], at) => `const value${at}: onloop.${type} = ${JSON.stringify(value)};`);
  return `import type * as onloop from "onloop";\n${lines.join("\n")}\nexport const values = [${lines.map((_, at) => `value${at}`)}];`;
}

test("its types fit both module formats", () => {
  const source = `import { Core, Failure, load, type Diagnostic, type Host, type Ruling, type RunEvent } from "onloop";
    import { load as inline } from "onloop/inline";
    import { load as pure, type Ruling as PureRuling } from "onloop/pure";
    import { Core as Slim, PureCore } from "onloop/slim";
    import wasm from "onloop/onloop.wasm";
    const found: Diagnostic[] = load().lint("a.md", "");
    const event: RunEvent = { event: "step_started", step: 1 };
    // @ts-expect-error there is no such event
    const none: RunEvent = { event: "step_flew", step: 1 };
    // @ts-expect-error a call is made somewhere
    const ruling: Ruling = load().decide({ tool: "Bash" });
    const same: Ruling = pure().decide({ tool: "Bash", cwd: "/w" }) satisfies PureRuling;
    // @ts-expect-error programs are left out
    pure().run;
    // @ts-expect-error a core is made of a module
    new PureCore();
    const next = load().next("");
    // @ts-expect-error only the beginning of a step has an attempt
    next.attempt;
    const attempt: number = next.action === "start" ? next.attempt : 0;
    // @ts-expect-error there is no such action
    next.action === "fly";
    // @ts-expect-error a summary has no such member
    load().view("").intents;
    new Slim(wasm);
    const host: Host = {
      perform: async (request) => { throw new Failure("closed", request.do); },
      nowMs: () => 0,
      end: async () => {},
    };
    export const all = [found, event, none, ruling, host, inline(), pure(), same, attempt, Core, Slim];`;
  workspace.write(project, { "types.mts": source, "types.cts": source, "types.ts": source, "documents.ts": documents() });
  const compiler = [process.execPath, join(tools, "typescript/bin/tsc")];
  const shared = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022"];
  for (const [files, module, resolution] of [
    [["types.mts", "types.cts"], "nodenext", "nodenext"],
    [["types.ts", "documents.ts"], "esnext", "bundler"],
  ]) {
    const words = ["--module", module, "--moduleResolution", resolution, ...files];
    runs([...compiler, ...shared, ...words]);
  }
});

testWithAll("publint and attw find nothing", () => {
  const packed = tarball(/^onloop-\d/);
  runs([process.execPath, join(tools, "publint/src/cli.js"), "run", "--strict", packed]);
  const attw = join(tools, "@arethetypeswrong/cli/dist/index.js");
  // Resolution from before \`exports\` cannot see what is below the package's name.
  const words = ["--profile", "node16", "--no-emoji"];
  runs([process.execPath, attw, packed, ...words]);
});

test("npx runs a workflow in a worktree of a fresh repository", () => {
  const cwd = join(top, "worktree of ü");
  mkdirSync(cwd);
  const env = workspace.environment(top);
  workspace.write(cwd, { "hotl-workflow-a.md": WORKFLOW, ".gitignore": "/.hotl/\n" });
  workspace.commitAll(cwd, env);
  const onloop = (...words) => runs([join(project, "node_modules/.bin/onloop"), ...words], { cwd, env });
  assert.match(onloop("run"), /Step 1: Write/);
  assert.match(onloop("status", "--all"), /Completed/);
  const old = runs([join(project, "node_modules/.bin/hotl-rt"), "--version"], { cwd, env });
  assert.match(old, /^onloop \d/);
  assert.ok(!existsSync(join(cwd, "a.txt")), "the work happened in the worktree");
});

testWithAll("npx installs hooks that deny", () => {
  const home = join(top, "an empty home");
  mkdirSync(home);
  const env = workspace.environment(home);
  const npx = (...words) => runs(["npx", "--no", "onloop", ...words], { env });
  npx("install", "claude");
  const settings = JSON.parse(readFileSync(join(home, ".claude/settings.json"), "utf8"));
  const { command, args } = settings.hooks.PreToolUse[0].hooks[0];
  assert.equal(command, process.execPath);
  assert.ok(args[0].startsWith(realpathSync(join(project, "node_modules/onloop"))), args[0]);
  assert.match(npx("doctor", "claude"), /✓ user: .*`rm -rf \/` is refused/);
  npx("uninstall", "claude");
  assert.ok(!existsSync(join(home, ".claude/settings.json")));
});

test("the native program of a platform package is found and used", () => {
  const both = join(top, "both ü");
  install(both, tarball(/^onloop-\d/), tarball(new RegExp(`^onloop-${PLATFORM}`)));
  const bin = join(both, "node_modules/.bin/onloop");
  const env = workspace.environment(top);
  const version = workspace.run([bin], ["--version"], { cwd: both, env });
  assert.match(version.stdout, /^onloop \d/);
  assert.match(version.stderr, new RegExp(`^native program .*from the package \`@onloop/${PLATFORM}\``));
  const none = { ...env, ONLOOP_BINARY: "" };
  const wasm = workspace.run([bin], ["--version"], { cwd: both, env: none });
  assert.equal(wasm.stdout, version.stdout);
  assert.match(wasm.stderr, /^WebAssembly in Node /);
  const manifest = (path) => JSON.parse(readFileSync(join(both, "node_modules", path, "package.json"), "utf8"));
  const { optionalDependencies, version: own } = manifest("onloop");
  assert.equal(optionalDependencies[`@onloop/${PLATFORM}`], own);
  assert.equal(manifest(`@onloop/${PLATFORM}`).version, own);
});
