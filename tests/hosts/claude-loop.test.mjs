// `/hotl:loop` in the real Claude Code: the stand-in is an agent that knows only what
// the command and its skill tell it, and runs the verbs that they name.

import assert from "node:assert/strict";
import { join } from "node:path";
import { testWithAll } from "../../npm/test/support/all.mjs";
import { claude, onloop, repository, run } from "./clients.mjs";
import { FILE, record, withWorkflow } from "./runs.mjs";

/** The first command of ours in a text that begins so, with its placeholders filled in. */
function command(text, beginning, values) {
  const commands = [...text.matchAll(/`(onloop [^`]*)`/g)].map(([, line]) => line.replace(/\s+/g, " "));
  const found = commands.find((line) => line.startsWith(`onloop ${beginning}`));
  assert.ok(found, `\`onloop ${beginning}\` is not in\n${text}`);
  return found.replace(/\b(FILE|ID|N|BRANCH|SOURCE|HEAD)\b/g, (name) => values[name] ?? name);
}

/** Follows the skill to the end of the run. The second file is empty at first. */
function* agent(project) {
  const seen = { actions: [] };
  let heard = yield { tool: "Skill", input: { skill: "hotl:onloop-loop" } };
  const skill = heard.told.find((text) => text.includes("# Run a workflow with onloop"));
  assert.ok(skill, "the skill was loaded");
  const values = { FILE };
  const act = function* (beginning, chosen = "") {
    heard = yield { run: `${command(skill, beginning, values)}${chosen}` };
    return heard.results.at(-1);
  };
  yield* act("lint");
  // Where to work is the person's choice, and the skill says how to pass it on.
  const branch = "--mode branch";
  assert.ok(skill.includes(`\`${branch}\``), skill);
  const prepared = JSON.parse(yield* act("prepare", ` ${branch}`));
  assert.equal(prepared.execution_root, project, "the run is here, where the calls are judged");
  Object.assign(values, { BRANCH: prepared.branch, SOURCE: prepared.source_branch, HEAD: prepared.source_head });
  values.ID = (yield* act("init")).trim();
  for (;;) {
    const next = JSON.parse(yield* act("next"));
    seen.actions.push(next.action);
    values.N = next.step;
    if (next.action === "repeat-checks") break;
    if (next.action === "approve") {
      heard = yield { run: next.command };
      continue;
    }
    yield* act(next.action === "retry" ? "step N retry" : "step N start");
    const name = next.step === 1 ? "one" : "two";
    const isFirstTry = next.step === 2 && !seen.tried;
    if (next.step === 2) seen.tried = true;
    heard = yield { tool: "Write", input: { file_path: join(project, `${name}.txt`), content: isFirstTry ? "" : "made\n" } };
    yield* act("step N verify");
  }
  yield* act("finalize");
  return { say: yield* act("summary") };
}

testWithAll("the command of the plugin drives a workflow to completed, retries and gates included", async () => {
  const place = await withWorkflow(claude);
  const words = ["--plugin-dir", join(repository, "npm/plugin")];
  const ended = await claude.session(place, agent(place.project), { prompt: `/hotl:loop ${FILE}`, words });
  assert.equal(ended.code, 0, JSON.stringify(ended));
  const { run_id, status, branch } = await record(place);
  assert.deepEqual({ status, branch }, { status: "completed", branch: "hotl/two-files" }, JSON.stringify(ended));
  // The summary is the agent's last word, and the record has the failed attempt.
  assert.match(JSON.parse(ended.stdout).result, /\| 2 \| The second \| ⚡ Auto-approved/);
  assert.match(await onloop(place, "report", run_id), /verify failed/i);
  const branches = await run("git", ["branch", "--show-current"], place);
  assert.equal(branches.stdout.trim(), "hotl/two-files");
});
