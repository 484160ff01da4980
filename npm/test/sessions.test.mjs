// Sessions of agents: the functions of the package decide like the
// hooks of the native program decide, byte for byte.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { load } from "../dist/index.js";
import * as workspace from "./support/workspace.mjs";
import { built, folder, repository } from "./support/workspace.mjs";

const core = load();
const NATIVE = [built("ONLOOP_TEST_NATIVE")];
const NOW = Date.parse("2026-03-20T21:23:15Z");
const STOP = { max_continuations: 2, file: "s.json", resume: "it" };

test("every vector that starts a workflow starts a session", () => {
  const lines = readFileSync(join(repository, "tests/vectors/session-commands.jsonl"), "utf8").trim().split("\n");
  let begun = 0;
  for (const { id, prompt, expected } of lines.map(JSON.parse)) {
    const session = core.sessionBegin("s1", prompt, NOW);
    assert.equal(session === undefined, expected.workflow === null, id);
    if (session === undefined) continue;
    begun += 1;
    const { workflow, issue_no = null, pr_no = null, status } = core.sessionView("s1", session);
    assert.deepEqual({ workflow, issue_no, pr_no, status }, { ...expected, status: "open" }, id);
  }
  assert.ok(begun > 20);
});

test("a session continues like the hooks of the native program", (t) => {
  const cwd = folder(t);
  const env = workspace.environment(cwd);
  workspace.commitAll(cwd, env);
  workspace.write(cwd, { ".agentize.local.yaml": "handsoff:\n  max_continuations: 2\n" });
  const hook = (input) => {
    const event = { session_id: "s1", cwd, ...input };
    const end = workspace.run(NATIVE, ["hook", "claude"], { cwd, env, input: JSON.stringify(event) });
    assert.equal(end.exit, 0, end.stderr);
    return end.stdout;
  };
  const listed = () => JSON.parse(workspace.run(NATIVE, ["session", "show", "s1", "--json"], { cwd, env }).stdout);
  const submit = (prompt) => hook({ hook_event_name: "UserPromptSubmit", prompt });
  submit("/issue-to-impl 42");
  const { file } = listed();
  let session = core.sessionBegin("s1", "/issue-to-impl 42", NOW);
  assert.equal(readFileSync(file, "utf8"), session);

  const { max_continuations } = core.readConfig(readFileSync(join(cwd, ".agentize.local.yaml"), "utf8"), cwd);
  const resume = "`claude -r s1`";
  const stops = ["part 1", "part 2", "part 3"].map((message) => {
    const said = hook({ hook_event_name: "Stop", last_assistant_message: message, stop_hook_active: false });
    const answer = core.sessionStopped("s1", session, NOW, { max_continuations, host_cap: { in_a_row: 8 }, message, file, resume });
    session = answer.session;
    assert.equal(readFileSync(file, "utf8"), session, message);
    if (answer.said === "continue") assert.equal(core.hookAnswer("claude", "stop", { continue: answer.prompt }), said);
    else assert.equal(core.hookAnswer("claude", "stop", { system_message: `onloop: session s1 is not continued: ${answer.reason}` }), said);
    return answer.said;
  });
  assert.deepEqual(stops, ["continue", "continue", "over"]);

  submit("what is this?");
  session = core.sessionPrompted("s1", session, NOW, "what is this?");
  assert.equal(readFileSync(file, "utf8"), session);
  assert.deepEqual(core.sessionView("s1", session, file), listed());
  assert.equal(core.sessionView("s1", session).status, "paused");
  assert.equal(core.sessionView("s1", core.sessionPrompted("s1", session, NOW, "use option 2")).status, "open");
  workspace.run(NATIVE, ["session", "done", "s1"], { cwd, env });
  const { reason } = listed();
  session = core.sessionEnd("s1", session, NOW, "done", reason);
  assert.equal(readFileSync(file, "utf8"), session);
  assert.equal(core.sessionStopped("s1", session, NOW, STOP).said, "nothing");
});

test("a session that drives a run follows its record", () => {
  const workflow = "---\nintent: Greet\nsuccess_criteria: It is there\nrisk_level: low\n---\n- [ ] **Step 1: Greet**\naction: Greet.\nloop: false\nverify: test -s a\n";
  let run = core.begin("hotl-workflow-greet.md", workflow, { at_ms: NOW, reverify: false });
  const session = core.sessionBegin("s1", "/issue-to-impl 42", NOW);
  const first = core.sessionStopped("s1", session, NOW, { ...STOP, run });
  assert.equal(first.said, "continue");
  assert.match(first.prompt, /^onloop: automatic continuation 1\/2 of run .*step 1 of 1: Greet/);
  for (const event of [
    { event: "step_started", step: 1 },
    { event: "step_acted", step: 1 },
    { event: "step_verified", step: 1, results: [{ check: 0, verdict: "passed", stdout: "", stderr: "" }] },
    { event: "run_finalized" },
  ]) run = core.apply(run, NOW, event);
  // The run is finished, but the session's own workflow is not.
  assert.match(core.sessionStopped("s1", first.session, NOW, { ...STOP, run }).prompt, /of `\/issue-to-impl`/);
  // A session without its own workflow ends with the run.
  const only = JSON.stringify({ ...JSON.parse(session), workflow: "onloop-run" });
  assert.equal(core.sessionStopped("s1", only, NOW, { ...STOP, run }).said, "nothing");
});

test("own workflows, plans and templates are used unchanged", () => {
  const own = [{ command: "/mine", name: "my-workflow" }];
  assert.equal(core.startedBy("/mine 7"), undefined);
  assert.deepEqual(core.startedBy("/mine #7", own), { workflow: "my-workflow", issue_no: 7, pr_no: null });
  const session = core.sessionBegin("s1", "/mine 日本 \u{1f600} \ud800", NOW, own);
  const { prompt } = core.sessionStopped("s1", session, NOW, { ...STOP, template: "Go on with {#workflow#}: {#plan_context#}", plan: { path: "p.md", text: "日本 \u{1f600} \ud800" } });
  assert.match(prompt, /Go on with my-workflow: .*`p\.md`.*```text\n日本 \u{1f600} \ufffd\n```/su);
  // An escaped backslash before text like half of a pair stays.
  const words = core.sessionStopped("s1", session, NOW, { ...STOP, template: "\\ud800 \\\ud800" });
  assert.match(words.prompt, /\n\\ud800 \\\ufffd\n/);
});

test("errors are reported", () => {
  const session = core.sessionBegin("s1", "/sync-master", NOW);
  assert.throws(() => core.sessionBegin("../s", "/sync-master", NOW), /`\.\.\/s` cannot name a session/);
  assert.throws(() => core.sessionStopped("s1", "{}", NOW, STOP), /the session cannot be read: missing field `workflow`/);
  assert.throws(() => core.sessionStopped("s1", session, NOW, {}), /^TypeError: `stop\.max_continuations` is missing, expected a number$/);
  assert.throws(() => core.sessionEnd("s1", session, NOW, "won"), /^TypeError: `ending` is "won", expected `done`, `error` or `stopped`$/);
  assert.throws(() => core.hookEvent("emacs", "{}"), /^TypeError: `host` is "emacs", expected `claude`, `codex`, /);
  assert.throws(() => core.hookEvent("claude", "[]"), /the input is not a JSON object/);
  assert.throws(() => core.hookAnswer("claude", "PreToolUse", {}), /`PreToolUse` is not an event of a hook/);
  assert.throws(() => core.hookAnswer("claude", "stop", { decision: "yes" }), /found decision `yes`/);
});

test("a configuration is read with warnings, and without the bot's token", () => {
  const yaml = "handsoff:\n  max_continuations: 3\n  auto_permission: perhaps\ntelegram:\n  enabled: true\n  token: '123:abc'\n  chat_id: -5\n  allowed_user_ids: [7]\n";
  const config = core.readConfig(yaml, "/home/me");
  assert.equal(config.max_continuations, 3);
  assert.equal(config.auto_permission, false);
  assert.match(config.notes[0], /^line 3, column 20: `handsoff\.auto_permission` is `perhaps`/);
  assert.deepEqual([config.telegram.chat_id, config.telegram.allowed_user_ids], [-5, [7]]);
  assert.ok(!JSON.stringify(config).includes("abc"));
  assert.equal(core.readConfig(yaml, "/home/me", { HANDSOFF_MAX_CONTINUATIONS: "7" }).max_continuations, 7);
  assert.equal(core.readConfig("handsoff: [", "/home/me").max_continuations, 0);
});

test("hook events have one form for all clients, and the answer has the client's form", () => {
  const input = JSON.stringify({ hook_event_name: "PreToolUse", session_id: "s1", cwd: "/w", tool_name: "Bash", tool_input: { command: "ls" } });
  const event = core.hookEvent("claude", input);
  assert.deepEqual(event, { event: "tool-call", tool: "Bash", input: { command: "ls" }, session: "s1", cwd: "/w", transcript: null });
  const { tool, input: asked, cwd } = event;
  const { decision, reason } = core.decide({ tool, input: asked, cwd });
  const said = JSON.parse(core.hookAnswer("claude", event.event, { decision, reason }));
  assert.equal(said.hookSpecificOutput.permissionDecision, "allow");
  assert.equal(core.hookAnswer("claude", event.event, {}), "");
});
