// Wrong arguments throw a TypeError and do not affect other programs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Bug, Core, NodeHost, PureCore, load } from "../dist/index.js";

const core = load();
const WORKFLOW = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n### 1. One\naction: do\nloop: false\ngate: human\n";
const RECORD = core.begin("hotl-workflow-a.md", WORKFLOW, { at_ms: 0 });
const CALL = { tool: "Bash", input: { command: "ls" }, cwd: "/w" };
const WORKS = "the text that `begin` or `apply` returned";

const cycle = {};
cycle.itself = cycle;

test("a wrong argument throws a TypeError that names it", () => {
  const table = [
    [() => core.next({ run_id: "x" }), `\`record\` is an object, expected ${WORKS}`],
    [() => core.next(), `\`record\` is missing, expected ${WORKS}`],
    [() => core.parseTime(5), "`text` is 5, expected a string"],
    [() => core.classify(1, 2), "`path` is 1, expected a string"],
    [() => core.classify("a.md", Buffer.from("a")), "`text` is an object, expected a string"],
    [() => core.lint("a.md", null), "`text` is null, expected a string"],
    [() => core.prompt(RECORD, 1.5), "`step` is 1.5, expected the number of a step, from 1"],
    [() => core.prompt(RECORD, "1"), '`step` is "1", expected the number of a step, from 1'],
    [() => core.apply(RECORD, Number.NaN, {}), "`atMs` is NaN, expected milliseconds since 1970, such as `Date.now()`"],
    [() => core.apply(RECORD, 0n, {}), "`atMs` is 0n, expected milliseconds since 1970, such as `Date.now()`"],
    [() => core.apply(RECORD, 0, "step_started"), '`event` is "step_started", expected an object'],
    [() => core.apply(RECORD, 0, { step: 1 }), "`event.event` is missing, expected a string"],
    [() => core.apply(RECORD, 0, { event: "x", cycle }), /^`event` cannot be written as JSON: Converting circular structure to JSON/],
    [() => core.begin("a.md", WORKFLOW, { at_ms: "now" }), '`beginning.at_ms` is "now", expected a number'],
    [() => core.begin("a.md", WORKFLOW, { at_ms: 0, auto_approve: "yes" }), '`beginning.auto_approve` is "yes", expected true or false'],
    [
      () => core.begin("a.md", WORKFLOW, { at_ms: 0, reverfy: false }),
      "`beginning` has no member `reverfy`, expected `id`, `at_ms`, `auto_approve`, `reverify`, `review_agent` or `place`",
    ],
    [() => core.summary(RECORD, "cursor"), '`platform` is "cursor", expected `claude`, `codex` or `cline`'],
    [() => core.decide("ls"), '`call` is "ls", expected an object'],
    [() => core.decide({ ...CALL, cwd: undefined }), "`call.cwd` is missing, expected a string"],
    [() => core.decide({ ...CALL, confined: 1 }), "`call.confined` is 1, expected true or false"],
    [() => core.setTrusted("", "", "no"), '`trusted` is "no", expected true or false'],
    [() => core.startedBy("/go", { command: "/go" }), "`own` is an object, expected an array of objects"],
    [() => core.startedBy("/go", [{ command: "/go" }]), "`own[0].name` is missing, expected a string"],
    [() => core.readConfig("", "/w", { HOME: 1 }), "`variables.HOME` is 1, expected a string"],
    [() => core.hookEvent("emacs", "{}"), '`host` is "emacs", expected `claude`, `codex`, `cursor`, `vscode`, `opencode`, `cline` or `copilot`'],
    [() => core.hookEvent("claude", {}), "`input` is an object, expected a string: what the host writes to the hook, as it is"],
    [() => core.sessionEnd("a", "", 0, "over"), '`ending` is "over", expected `done`, `error` or `stopped`'],
    [() => core.sessionView("a", Symbol("a")), "`session` is a symbol, expected the text that `sessionBegin` or a function after it returned"],
    [() => core.withTaskStatus("", "T1", "done"), '`status` is "done", expected `pending`, `in-progress`, `completed` or `blocked`'],
    [() => core.route("v9", {}), '`profile` is "v9", expected `v1`, `v2`, `v3` or `route`'],
    [() => core.secrets(undefined), "`env` is missing, expected an object of strings"],
    [() => core.brokenHookAnswer("onloop hook claude"), '`argv` is "onloop hook claude", expected an array of strings'],
    [() => core.recordingCommand(["onloop", 1]), "`argv[1]` is 1, expected a string"],
    [() => core.language.hover("a.md", WORKFLOW, -1), "`offset` is -1, expected an offset in UTF-16 units, from 0"],
    [() => core.language.quickFixes("a.md", WORKFLOW, 0, "9"), '`end` is "9", expected an offset in UTF-16 units, from 0'],
    [() => core.language.rename("a.md", WORKFLOW, 0), "`name` is missing, expected a string"],
    [() => core.language.symbols(WORKFLOW), "`text` is missing, expected a string"],
    [() => core.lint("a.md", "x".repeat(128 * 1024 * 1024 + 1)), "`text` has 134217729 characters, expected at most 134217728"],
  ];
  for (const [call, message] of table) assert.throws(call, { name: "TypeError", message });
});

test("a command line without the program's name and an incomplete host throw a TypeError", async () => {
  const host = new NodeHost({ attended: false });
  const run = (argv, given = host) => core.run({ ...host.start(["onloop"]), argv }, given);
  const table = [
    [["run", "a.md"], '`start.argv[0]` is "run", expected `onloop`, the name of the program; write ["onloop","run","a.md"]'],
    [[], '`start.argv[0]` is missing, expected `onloop`, the name of the program; write ["onloop"]'],
    ["onloop run", '`start.argv` is "onloop run", expected an object'],
    [["onloop", null], "`start.argv[1]` is null, expected a string"],
  ];
  for (const [argv, message] of table) await assert.rejects(run(argv), { name: "TypeError", message });
  const parts = "an object with `perform`, `nowMs`, `end`";
  const version = ["onloop", "--version"];
  await assert.rejects(run(version, null), { name: "TypeError", message: `\`host\` is null, expected ${parts}` });
  const without = { perform: () => undefined, nowMs: () => 0 };
  await assert.rejects(run(version, without), { name: "TypeError", message: "`host.end` is missing, expected a function" });
  await assert.rejects(core.capture(host.start(version)), { name: "TypeError", message: `\`host\` is missing, expected ${parts}` });
  for (const name of ["onloop", "/usr/bin/onloop", "C:\\bin\\onloop.exe", "hotl-rt"]) {
    assert.equal((await core.capture(host.start([name, "--version"]), host)).exit, 0, name);
  }
});

test("a host must return bytes, which may come from another realm", async () => {
  const host = new NodeHost({ attended: false });
  const reading = (bytes) => {
    const perform = async (request) => {
      if (request.do === "read") return { is: "file", bytes, version: "1" };
      return request.do === "canonical" ? { is: "path", path: request.path } : host.perform(request);
    };
    const reader = { perform, nowMs: () => 0, end: () => host.end() };
    return core.capture(host.start(["onloop", "lint", "hotl-workflow-a.md"]), reader);
  };
  const message = /^the host's reply is malformed: invalid type: string "text"/;
  await assert.rejects(reading("text"), { message });
  const words = "the host gave an object where bytes belong, expected a `Uint8Array`";
  await assert.rejects(reading(new Uint16Array(1)), { name: "TypeError", message: words });
  const { runInNewContext } = await import("node:vm");
  const elsewhere = runInNewContext("Uint8Array.from(bytes)", { bytes: [...Buffer.from(WORKFLOW)] });
  assert.ok(!(elsewhere instanceof Uint8Array));
  assert.equal((await reading(elsewhere)).exit, 0);
});

test("a wrong argument does not affect a running program", async () => {
  const junk = [undefined, null, 0, -1, 1e400, 2n ** 70n, "", "{}", "\ud800", [], {}, cycle, () => 0, Symbol("s"), new Date(Number.NaN), Buffer.alloc(3), RECORD];
  const { prototype } = Object.getPrototypeOf(PureCore);
  const own = (of) => Object.getOwnPropertyNames(of).filter((name) => name !== "constructor" && name !== "panicForTests");
  const names = [
    ...own(prototype).map((name) => [core, name]),
    ...own(Object.getPrototypeOf(core.language)).map((name) => [core.language, name]),
  ];
  const host = new NodeHost({ attended: false });
  let calls = 0;
  const perform = async (request) => {
    if (request.do !== "say") return host.perform(request);
    for (const [of, name] of names) {
      for (const first of junk) {
        for (const other of junk) {
          for (const words of [[first], [first, other, other, other, other], [RECORD, first, other], ["claude", first, other]]) {
            calls += 1;
            try {
              of[name](...words);
            } catch (error) {
              assert.ok(error instanceof Error && !(error instanceof Bug), `${name}: ${error}`);
            }
          }
        }
      }
    }
    return { is: "done" };
  };
  const said = { perform, nowMs: () => 0, end: () => host.end() };
  assert.equal(await core.run(host.start(["onloop", "--version"]), said), 0);
  assert.ok(calls > 10_000, `${calls} calls`);
});

test("a hook's input in a wrong form is a TypeError that shows the form", () => {
  for (const host of ["claude", "codex", "cursor", "vscode", "opencode", "cline", "copilot"]) {
    let example;
    assert.throws(
      () => core.hookEvent(host, "{}"),
      ({ message }) => {
        example = message.slice(message.indexOf("{"));
        return message.includes(`; \`${host}\` writes such as {`);
      },
    );
    const { event, input, session, cwd } = core.hookEvent(host, example);
    assert.deepEqual({ event, command: input.command, session, cwd }, { event: "tool-call", command: "ls", session: "7f3a", cwd: "/srv/repo" });
  }
});

test("a core needs a module or its bytes", () => {
  assert.throws(() => new Core("onloop.wasm"), TypeError);
  assert.throws(() => new PureCore(undefined), TypeError);
});
