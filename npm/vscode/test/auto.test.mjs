// rw-auto with a language model of the editor as planner and loop.

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { load as loadCore } from "onloop";
import { temporaryFolder } from "../../test/support/temporary.mjs";
import { load } from "./support/modules.mjs";

const core = loadCore();
const { runProgram } = await load("run_program");
const { TURNS, captured, converse } = await load("chat_agent");

/** A model with scripted turns, one list of parts each. */
function model(turns, tools = {}) {
  const heard = [];
  return {
    heard,
    async *say(messages) {
      heard.push(structuredClone(messages));
      yield* turns.shift();
    },
    use: async (tool, input) => tools[tool](input),
  };
}

test("a conversation ends when the model uses no more tools", async () => {
  const fake = model(
    [[{ text: "I write" }, { call: "1", tool: "write", input: { to: "a" } }], [{ text: "NEXT_COMMAND=" }, { text: "done" }]],
    { write: ({ to }) => `wrote ${to}` },
  );
  const words = [];
  const said = await converse(fake, "the prompt", (text) => words.push(text));
  assert.equal(said, "I write\nNEXT_COMMAND=done");
  assert.deepEqual(words, ["I write", "NEXT_COMMAND=", "done"]);
  assert.deepEqual(fake.heard[1].at(-1), { from: "tools", results: [{ call: "1", result: "wrote a" }] });
  assert.deepEqual(fake.heard[0], [{ from: "user", text: "the prompt" }]);
});

test("a model that only uses tools is stopped", async () => {
  const turns = Array.from({ length: TURNS }, () => [{ call: "1", tool: "look", input: {} }]);
  await assert.rejects(converse(model(turns, { look: () => "" }), "x", () => {}), /200 turns/);
});

test("long text keeps its beginning and its end", () => {
  const shown = ({ head, tail, total_bytes }) => [String(Buffer.from(head)), String(Buffer.from(tail)), total_bytes];
  assert.deepEqual(shown(captured("abcdefgh", 3)), ["abc", "fgh", 8]);
  assert.deepEqual(shown(captured("abcd", 3)), ["abc", "d", 4]);
  assert.deepEqual(shown(captured("ab", 3)), ["ab", "", 2]);
});

test("the model is planner and loop in turns, by the rules of core", async () => {
  const folder = temporaryFolder("onloop-vscode-");
  try {
    assert.equal((await runProgram(core, { folder, argv: ["auto", "init"] })).exit, 0);
    const AGENT = "the language model";
    const progress = join(folder, ".ai/PROGRESS.md");
    const edit = (change) => writeFileSync(progress, change(readFileSync(progress, "utf8")));
    const targets = [];
    const play = (spec) => {
      if (spec.command.line !== AGENT) return undefined;
      const target = spec.env_set.ONLOOP_AUTO_TARGET;
      targets.push([target, spec.env_set.ONLOOP_AUTO_ARGUMENT]);
      const turns =
        target === "rw-planner"
          ? [[{ call: "1", tool: "plan", input: {} }], [{ text: "NEXT_COMMAND=rw-loop" }]]
          : [[{ call: "1", tool: "work", input: {} }], [{ text: "REVIEW_STATUS=OK\nNEXT_COMMAND=done" }]];
      const tools = {
        plan: () => edit((text) => text.replace(/^\|-+.*$/m, "$&\n| TASK-01 | Greeting | pending | - |")),
        work: () => edit((text) => text.replace("| pending |", "| completed |")),
      };
      return converse(model(turns, tools), new TextDecoder().decode(spec.stdin), () => {}).then((said) => {
        const stdout = captured(said, spec.capture_bytes);
        return { is: "process", status: { exited: 0 }, stdout, stderr: captured("", 0), duration_ms: 0 };
      });
    };
    const argv = ["auto", "--agent-command", AGENT, "--", "begin a greeting"];
    const ended = await runProgram(core, { folder, argv, replaceProcess: play });
    assert.equal(ended.exit, 0, ended.notes);
    assert.deepEqual(ended.result.trim().split("\n"), [
      "AUTO_CYCLE=1",
      "AUTO_ROUTE_TARGET=rw-planner",
      "AUTO_CYCLE=2",
      "AUTO_ROUTE_TARGET=rw-loop",
      "NEXT_COMMAND=done",
    ]);
    assert.deepEqual(targets, [["rw-planner", "begin a greeting"], ["rw-loop", ""]]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
