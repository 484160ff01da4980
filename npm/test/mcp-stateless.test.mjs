// The tools through both programs, with the official client of version 2026-07-28. It checks every
// structured answer against the schema of its tool.

import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { testIf } from "./support/all.mjs";
import * as workspace from "./support/workspace.mjs";
import { built, folder, npmFolder } from "./support/workspace.mjs";

const SERVERS = {
  native: [built("ONLOOP_TEST_NATIVE")],
  package: [process.execPath, join(npmFolder, "bin/onloop.mjs")],
};
const HERE = { mode: "none", agent: "script" };
const WORKFLOW = `---
intent: Say hello
success_criteria: A greeting exists
risk_level: low
auto_approve: false
---
- [ ] **Step 1: Write**
action: Write it.
loop: false
verify: test -e hello.txt
gate: human

\`\`\`sh
echo hi > hello.txt
\`\`\`
`;

/** A server in a new folder with that workflow, and a client that has negotiated the version. */
async function begin(t, [command, ...args], answers) {
  const cwd = folder(t);
  workspace.write(cwd, { "hotl-workflow-hello.md": WORKFLOW });
  const env = workspace.environment(cwd);
  const transport = new StdioClientTransport({ command, args: [...args, "mcp"], cwd, env });
  const capabilities = { elicitation: { form: {} } };
  const client = new Client({ name: "tests", version: "1" }, { capabilities, versionNegotiation: { mode: "auto" } });
  const asked = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params.message.split("\n").at(-1));
    const answer = answers.shift();
    return answer === undefined ? { action: "decline" } : { action: "accept", content: { answer } };
  });
  await client.connect(transport);
  t.after(() => client.close());
  return { client, asked };
}

for (const [name, server] of Object.entries(SERVERS)) {
  testIf(name === "package")(`${name}: a client of 2026-07-28 gets every tool, with valid answers`, async (t) => {
    const { client, asked } = await begin(t, server, ["yes"]);
    assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
    await client.listTools();
    const call = async (tool, input, options) => {
      const { structuredContent, isError } = await client.callTool({ name: tool, arguments: input }, options);
      return { ...structuredContent, isError };
    };
    const words = [];
    const done = await call("run", HERE, { onprogress: ({ message }) => words.push(message) });
    assert.equal(done.outcome, "done", done.notes);
    assert.deepEqual(asked, ["Gate reached at Step 1. Continue? (yes/no/show-details)"]);
    assert.equal(words[0], "→ Step 1: Write");
    const run = { run_id: done.result.run_id };
    const table = [
      ["status", {}, "done"],
      ["status", run, "done"],
      ["next", run, "done"],
      ["summary", run, "done"],
      ["summary", { ...run, platform: "codex" }, "done"],
      ["report", run, "done"],
      ["receipt", run, "done"],
      ["lint", {}, "done"],
      ["permit_explain", { command: "rm -rf /" }, "failed"],
      ["finalize", run, "done"],
      ["step", { ...run, step: 1, action: "start" }, "failed"],
      ["gate", { ...run, step: 1, decision: "approved" }, "failed"],
      ["stop", run, "usage"],
      ["begin", { mode: "none" }, "done"],
      ["report", { run_id: "none" }, "usage"],
    ];
    for (const [tool, input, outcome] of table) {
      const answer = await call(tool, input);
      assert.equal(answer.outcome, outcome, `${tool}: ${answer.notes}`);
    }
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((prompt) => prompt.name), ["loop", "resume", "review"]);
    const argument = { name: "run_id", value: run.run_id };
    const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "review" }, argument });
    assert.ok(completion.values.includes(run.run_id), completion.values);
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources[0].uri });
    assert.match(contents[0].text, /^# Execution Report/);
  });
}
