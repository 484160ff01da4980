// Every tool answers with exactly the members of its `outputSchema`.

import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { testIf } from "./support/all.mjs";
import { built, commitAll, environment, folder, npmFolder, write } from "./support/workspace.mjs";

const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];
const SERVERS = { native: [built("ONLOOP_TEST_NATIVE")], package: PACKAGE };
const FAILED = "Where the command failed: its words";

const FILE = `---
intent: Say hello
success_criteria: A greeting exists
risk_level: low
auto_approve: false
---
- [ ] **Step 1: Write**
action: Write it.
loop: until it is there
max_iterations: 2
verify: test -e hello.txt
gate: human

- [ ] **Step 2: Look**
action: Look at it.
loop: false
verify: test -s hello.txt
`;

/** The same schema without additional properties. */
function strict(schema, isDone) {
  if (Array.isArray(schema)) return schema.map((each) => strict(each, isDone));
  if (typeof schema !== "object" || schema === null) return schema;
  const all = Object.entries(schema).map(([name, value]) => {
    const given = name === "anyOf" && isDone ? value.filter(({ description }) => description !== FAILED) : value;
    return [name, strict(given, isDone)];
  });
  const made = Object.fromEntries(all);
  // No object has a member with the name `properties`.
  return "properties" in made ? { ...made, additionalProperties: false } : made;
}

for (const [name, [command, ...args]] of Object.entries(SERVERS)) {
  testIf(name === "package")(`${name}: the answer of every tool matches its schema`, async (t) => {
    const cwd = folder(t);
    write(cwd, { "hotl-workflow-hello.md": FILE });
    const env = environment(cwd);
    commitAll(cwd, env);
    const client = new Client({ name: "tests", version: "1" }, { capabilities: { elicitation: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { answer: "yes" } }));
    await client.connect(new StdioClientTransport({ command, args: [...args, "mcp"], cwd, env }));
    t.after(() => client.close());
    const { tools } = await client.listTools();
    const ajv = new Ajv2020({ strictTypes: false, allErrors: true });
    const schemas = new Map(tools.map((tool) => [tool.name, [true, false].map((isDone) => ajv.compile(strict(tool.outputSchema, isDone)))]));
    const called = new Set();
    const call = async (tool, input, outcome = "done") => {
      called.add(tool);
      const { structuredContent } = await client.callTool({ name: tool, arguments: input });
      assert.equal(structuredContent.outcome, outcome, `${tool}: ${JSON.stringify(structuredContent)}`);
      const [done, failed] = schemas.get(tool);
      const valid = outcome === "done" || outcome === "begun" ? done : failed;
      const errors = () => JSON.stringify([valid.errors, structuredContent], null, 1);
      assert.ok(valid(structuredContent), `${tool} ${JSON.stringify(input)}: ${errors()}`);
      return structuredContent.result;
    };

    assert.equal((await call("lint", {})).errors, 0);
    assert.equal((await call("lint", { files: ["none.md"] }, "usage")).unreadable[0].path, "none.md");
    const begun = await call("begin", { mode: "branch" });
    const run = { run_id: begun.run_id };
    assert.equal((await call("next", run)).action, "start");
    const start = await call("step", { ...run, step: 1, action: "start" });
    assert.deepEqual([start.run_id, start.step.number, start.step.status], [begun.run_id, 1, "in_progress"]);
    const failed = await call("step", { ...run, step: 1, action: "verify" }, "failed");
    assert.deepEqual([failed.step.status, failed.step.verify_passed], ["failed", false]);
    assert.equal((await call("step", { ...run, step: 1, action: "retry" })).step.attempts, 1);
    await call("step", { ...run, step: 1, action: "start" });
    write(cwd, { "hello.txt": "hi\n" });
    assert.equal((await call("step", { ...run, step: 1, action: "verify" })).step.verify_passed, true);
    assert.equal((await call("status", run)).asks.is_gate, true);
    const gate = await call("gate", { ...run, step: 1, decision: "approved" });
    assert.deepEqual([gate.step.gate_result, gate.step.gate_mode], ["approved", "human"]);
    await call("step", { ...run, step: 2, action: "start" });
    await call("step", { ...run, step: 2, action: "verify" });
    assert.match(await call("diff", run), /^\+hi$/m);
    assert.match(await call("diff", { ...run, stat: true }), /hello\.txt/);
    assert.equal((await call("finalize", run)).status, "completed");
    assert.equal((await call("summary", run)).completed_steps, 2);
    assert.match(await call("summary", { ...run, platform: "codex" }), /Step 1: Write/);
    assert.match(await call("report", run), /^# Execution Report/);
    assert.equal((await call("receipt", run)).sufficiency.sufficient, true);
    assert.equal((await call("status", { all: true })).length, 1);
    assert.equal((await call("permit_explain", { command: "ls | sort" })).decision, "allow");
    assert.equal((await call("permit_explain", { command: "rm -rf /" }, "failed")).decision, "deny");
    assert.equal((await call("next", { run_id: "none" }, "usage")), "");

    const script = FILE.replaceAll("gate: human\n", "").replace(/verify: .*/g, "verify: sleep 600\n\n```sh\ntrue\n```");
    write(cwd, { "hotl-workflow-slow.md": script });
    const slow = await call("run", { file: "hotl-workflow-slow.md", mode: "none", agent: "script", background: true }, "begun");
    assert.equal(slow.status, "running");
    assert.equal((await call("stop", { run_id: slow.run_id })).status, "paused");
    assert.deepEqual([...called].sort(), tools.map((tool) => tool.name).sort());
  });
}
