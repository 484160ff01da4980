// The functions that extensions call, in Node and with the inlined module.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Bug, Core, Failure, NodeHost, load } from "../dist/index.js";
import * as inline from "../dist/inline.js";
import * as pure from "../dist/pure.js";

const core = load();
const module = (name) => readFileSync(new URL(`../dist/${name}`, import.meta.url));
const MODULES = ["onloop.wasm", "onloop-pure.wasm"];
const PATH = "hotl-workflow-demo.md";
const WORKFLOW = `---
intent: 日本 \u{1f600} builds
success_criteria: it does
risk_level: low
---
- [ ] **Step 1: Write \u{1f600}**
action: Write it.
loop: false
verify: test -f a.txt

- [ ] **Step 2: Ship**
action: Ship it.
loop: false
gate: human
`;

test("every entry point has the same core", () => {
  const require = createRequire(import.meta.url);
  const bytes = module("onloop.wasm");
  const slim = require("../dist/slim.cjs");
  const cores = [
    inline.load(),
    require("../dist/inline.cjs").load(),
    require("../dist/index.cjs").load(),
    new slim.Core(bytes),
    new slim.Core(new WebAssembly.Module(bytes)),
    pure.load(),
    require("../dist/pure.cjs").load(),
    new slim.PureCore(module("onloop-pure.wasm")),
    new slim.PureCore(new WebAssembly.Module(module("onloop-pure.wasm"))),
  ];
  const expected = core.normalize(PATH, WORKFLOW);
  assert.equal(expected.schema, "hotl.workflow/v1");
  for (const other of cores) assert.deepEqual(other.normalize(PATH, WORKFLOW), expected);
});

test("an outline says where the parts of a file are, in units of the string", () => {
  const { frontmatter, steps } = core.outline(PATH, WORKFLOW);
  assert.match(WORKFLOW.slice(frontmatter.start, frontmatter.end), /^intent: .*low\n$/s);
  const shown = steps.map(({ number, name, title, span }) => [
    number,
    name,
    WORKFLOW.slice(title.start, title.end),
    WORKFLOW.slice(span.start, span.end).split("\n")[0],
  ]);
  assert.deepEqual(shown, [
    [1, "Write \u{1f600}", "Write \u{1f600}", "- [ ] **Step 1: Write \u{1f600}**"],
    [2, "Ship", "Ship", "- [ ] **Step 2: Ship**"],
  ]);
  const gate = core.fields().find(({ section, name }) => section === "step" && name === "gate");
  assert.deepEqual(gate.values, ["human", "auto"]);
});

test("a host may replace the output of a program", async () => {
  const asked = [];
  class Listened extends Core {
    async run(_start, host) {
      await host.perform({ do: "say", to: "result", text: "captured" });
      await host.perform({ do: "sleep", duration_ms: 1 });
      await host.end();
      return host.nowMs();
    }
  }
  const host = {
    perform: async (request) => void asked.push(request.do),
    nowMs: () => 7,
    end: async () => void asked.push("ended"),
  };
  const bytes = readFileSync(new URL("../dist/onloop.wasm", import.meta.url));
  const ended = await new Listened(bytes).capture({}, host);
  assert.deepEqual(ended, { exit: 7, result: "captured", notes: "" });
  assert.deepEqual(asked, ["sleep", "ended"]);
});

test("offsets are those of the string that was linted", () => {
  const broken = WORKFLOW.replace("loop: false\nverify", "verify").replace("risk_level: low\n", "");
  const found = core.lint(PATH, broken);
  assert.deepEqual(
    found.map(({ code }) => code),
    ["missing-key", "missing-loop"],
  );
  const { start, end, fix } = found[1];
  assert.equal(broken.slice(start, end), "Write \u{1f600}");
  const [edit] = fix.edits;
  const mended = broken.slice(0, edit.start) + edit.text + broken.slice(edit.end);
  assert.deepEqual(
    core.lint(PATH, mended).map(({ code }) => code),
    ["missing-key"],
  );
  assert.equal(core.fix(PATH, broken).text, mended);
  assert.equal(core.fix(PATH, broken).applied, 1);
});

test("the core without programs has every other function, and both give the same answers", () => {
  const names = (type) => Object.getOwnPropertyNames(type.prototype).filter((name) => name !== "constructor");
  const [functions, all] = [Object.getPrototypeOf(pure.PureCore), Core];
  assert.deepEqual(names(functions), names(Object.getPrototypeOf(all)));
  assert.deepEqual(names(all).sort(), ["brokenHookAnswer", "capture", "recordingCommand", "run", "secrets"]);
  assert.deepEqual(names(pure.PureCore), []);
  const exported = (name) => WebAssembly.Module.exports(new WebAssembly.Module(module(name))).map(({ name }) => name);
  const more = exported("onloop.wasm").filter((name) => !exported("onloop-pure.wasm").includes(name) && !name.startsWith("__"));
  assert.deepEqual(more.filter((name) => !name.startsWith("language_")).sort(), [
    ...["broken_hook_answer", "git_begin", "git_resume", "program_begin", "program_drop", "program_resume"],
    ...["recording_command_of", "secrets", "trace_begin", "trace_reply", "trace_turn"],
  ]);
  // Only `core.language` has these.
  assert.equal(more.filter((name) => name.startsWith("language_")).length, names(core.language.constructor).length);
  assert.deepEqual(exported("onloop-pure.wasm").filter((name) => !exported("onloop.wasm").includes(name)), []);
});

test("a module without programs is not a core", () => {
  assert.throws(() => new Core(module("onloop-pure.wasm")), /has no programs.*`onloop\/onloop\.wasm`/);
});

test("a bug in the core without programs fails one call", () => {
  const core = pure.load();
  assert.throws(() => core.panicForTests("out of order"), (error) => error instanceof pure.Bug && /out of order/.test(error.message));
  assert.equal(core.classify(PATH, WORKFLOW), "workflow");
});

for (const name of MODULES) {
  test(`${name} reaches nothing but arrays and errors of its host`, () => {
    const names = WebAssembly.Module.imports(new WebAssembly.Module(module(name))).map(({ module, name }) => `${module} ${name}`);
    const harmless = /^\.\/onloop(-pure)?_bg\.js __(wbg_(push|length|new_from_slice|prototypesetcall|of|__wbindgen_throw|Error)_[0-9a-f]+|wbindgen_\w+)$/;
    assert.notEqual(names.length, 0);
    assert.deepEqual(names.filter((name) => !harmless.test(name)), []);
  });

  test(`${name} does not say where it was built`, () => {
    const places = [process.env.CARGO_HOME ?? `${homedir()}/.cargo`, fileURLToPath(new URL("../..", import.meta.url))];
    for (const place of places) assert.ok(!module(name).includes(place), place);
  });
}

test("a version is that of the package", () => {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url)));
  assert.equal(core.version(), version);
});

test("a lone surrogate counts as one unit", () => {
  const text = WORKFLOW.replace("Write it.", "Write \ud800 it.").replace(
    "loop: false\ngate",
    "gate",
  );
  const [found] = core.lint(PATH, text);
  assert.equal(text.slice(found.start, found.end), "Ship");
});

test("a run is driven event by event and says what comes next", () => {
  let record = core.begin(PATH, WORKFLOW, { at_ms: 0, reverify: false });
  const passed = { check: 0, verdict: "passed", stdout: "", stderr: "" };
  const table = [
    ["start", { event: "step_started", step: 1 }],
    ["act", { event: "step_acted", step: 1 }],
    ["verify", { event: "step_verified", step: 1, results: [passed] }],
    ["start", { event: "step_started", step: 2 }],
    ["act", { event: "step_acted", step: 2 }],
    ["verify", { event: "step_verified", step: 2, results: [] }],
    ["ask-gate", { event: "gate_decided", step: 2, decision: "approved", mode: "human" }],
    ["finalize", { event: "run_finalized" }],
  ];
  for (const [action, event] of table) {
    assert.equal(core.next(record).action, action);
    if (action === "act") assert.match(core.prompt(record, event.step), /it\./);
    record = core.apply(record, 1000, event);
  }
  assert.equal(core.next(record).action, "finished");
  const view = core.view(record);
  assert.equal(view.run_id, "demo-19700101T000000Z");
  assert.equal(view.status, "completed");
  assert.equal(view.completed_steps, 2);
  assert.match(core.report(record), /日本/);
  assert.match(core.summary(record, "codex"), /Step 2: Ship - Approved/);
});

test("a refused event changes nothing and says why", () => {
  const record = core.begin(PATH, WORKFLOW, { at_ms: 0 });
  assert.throws(() => core.apply(record, 0, { event: "step_acted", step: 1 }), /step 1 is/);
  assert.throws(() => core.apply(record, 0, { event: "step_flew", step: 1 }), /step_flew/);
  assert.throws(() => core.apply("{}", 0, { event: "run_finalized" }), /./);
  assert.throws(() => core.begin(PATH, "nothing", { at_ms: 0 }), /the workflow has \d+ errors/);
  assert.throws(() => core.begin(PATH, WORKFLOW, { at_ms: 0, id: "../x" }), /cannot name a run/);
});

test("after a trap the next call works", async () => {
  assert.throws(
    () => core.panicForTests("on purpose \u{1f600}"),
    (error) => error instanceof Bug && /internal error in onloop at .*: on purpose \u{1f600}/u.test(error.message),
  );
  assert.deepEqual(core.lint(PATH, WORKFLOW), []);
});

test("a trap elsewhere does not affect a running program", async () => {
  const host = new NodeHost({ frozenMs: 0, attended: false });
  const begin = () => host.start(["onloop", "--version"], {});
  const saying = (say) => {
    const perform = async (request) => (request.do === "say" ? say(request.text) : host.perform(request));
    return { perform, nowMs: () => 0, end: async () => undefined };
  };
  const trap = saying(() => {
    try {
      core.panicForTests("meanwhile");
    } catch {
      // The trap of another call.
    }
    return { is: "done" };
  });
  assert.equal(await core.run(begin(), trap), 0);
  const said = [];
  const listening = saying((text) => said.push(text) && { is: "done" });
  assert.equal(await core.run(begin(), listening), 0);
  assert.deepEqual(said, [`onloop ${core.version()}\n`]);
});

test("a program ends in order although its host refuses every request", async () => {
  const said = [];
  const host = {
    perform: async (request) => {
      if (request.do !== "say") throw new Failure("unsupported", "not here");
      said.push(request.text);
      return { is: "done" };
    },
    nowMs: () => 0,
    end: async () => said.push("ended"),
  };
  const begin = new NodeHost({ frozenMs: 0, attended: false }).start(["onloop", "lint", "a.md"], {});
  assert.equal(await core.run(begin, host), 2);
  assert.match(said[0], /a\.md/);
  assert.equal(said.at(-1), "ended");
});

test("time is read as the command line reads it", () => {
  assert.equal(core.parseTime("2026-03-20T21:23:15Z"), 1774041795000);
  assert.equal(core.parseTime("1774041795000"), 1774041795000);
  assert.equal(core.parseTime("tomorrow"), undefined);
});

test("a hundred thousand calls leave no memory behind", () => {
  // The memory of an instance never shrinks, so its size is the peak.
  const memory = () => core.memoryBytes();
  const small = "---\nintent: 日本 \u{1f600}\n---\n### 1. One\naction: a\nloop: false\n";
  const rounds = (count) => {
    for (let n = 0; n < count; n += 1) core.classify(PATH, small);
    for (let n = 0; n < count / 10; n += 1) core.lint(PATH, small);
    for (let n = 0; n < count / 10; n += 1) core.decide({ tool: "Bash", cwd: "/w", input: { command: `echo 日本 ${n % 7} | cat` } });
  };
  rounds(1000);
  const before = memory();
  rounds(100_000);
  assert.equal(memory(), before);
});
