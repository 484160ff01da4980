// The tools through Node, with the official client of the Model Context Protocol.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import * as workspace from "./support/workspace.mjs";
import { built, folder, npmFolder } from "./support/workspace.mjs";

const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];
const SERVERS = { native: [built("ONLOOP_TEST_NATIVE")], package: PACKAGE };
const HERE = { mode: "none", agent: "script" };

const workflow = (script, gate = "") => `---
intent: Say hello
success_criteria: A greeting exists
risk_level: high
auto_approve: false
---
- [ ] **Step 1: Write**
action: Write it.
loop: false
verify: test -e hello.txt
${gate}

\`\`\`sh
${script}
\`\`\`
`;

/** A server in a new folder with that workflow, and a client that is connected to it. */
async function begin(t, [command, ...args], file, { capabilities = {}, roots, answer } = {}) {
  const cwd = folder(t);
  workspace.write(cwd, { "hotl-workflow-hello.md": file });
  const env = workspace.environment(cwd);
  const transport = new StdioClientTransport({ command, args: [...args, "mcp"], cwd, env });
  const client = new Client({ name: "tests", version: "1" }, { capabilities });
  if (roots) client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: roots(cwd) }));
  if (answer) client.setRequestHandler(ElicitRequestSchema, answer);
  await client.connect(transport);
  t.after(() => client.close());
  const call = async (name, input, options) => {
    const result = await client.callTool({ name, arguments: input }, undefined, options);
    return { ...result.structuredContent, isError: result.isError };
  };
  return { cwd, client, call, transport };
}

for (const [name, server] of Object.entries(SERVERS)) {
  test(`${name}: a run is driven with progress, and its report can be read`, async (t) => {
    const { client, call, transport } = await begin(t, server, workflow("echo hi > hello.txt"));
    // The client forgets progress that arrives together with the answer.
    const words = [];
    const receive = transport.onmessage;
    transport.onmessage = (received, ...more) => {
      const { progress, total, message } = received.params ?? {};
      if (received.method === "notifications/progress") words.push([progress, total, message]);
      receive(received, ...more);
    };
    await client.listTools();
    const done = await call("run", HERE, { onprogress: () => {} });
    assert.equal(done.outcome, "done", done.notes);
    assert.equal(done.result.status, "completed");
    assert.deepEqual(words.at(0), [0.5, 1, "→ Step 1: Write"]);
    assert.deepEqual(words.at(-1), [1, 1, "✓ Step 1: Write"]);
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri.split("/").at(-1)),
      ["report", "record"],
    );
    const { contents } = await client.readResource({ uri: resources[0].uri });
    assert.match(contents[0].text, /^# Execution Report/);
  });

  test(`${name}: only a person decides, through the client`, async (t) => {
    const file = workflow("echo hi > hello.txt", "gate: human");
    const alone = await begin(t, server, file);
    const paused = await alone.call("run", HERE);
    assert.equal(paused.outcome, "paused");
    const refused = await alone.call("gate", { step: 1, decision: "approved" });
    assert.equal(refused.isError, true);
    assert.match(refused.notes, /onloop approve /);

    const asked = [];
    const answer = ({ params }) => {
      asked.push(params.message);
      const said = [undefined, "yes", "Write"][asked.length - 1];
      return said === undefined
        ? { action: "decline" }
        : { action: "accept", content: { answer: said } };
    };
    const attended = await begin(t, server, file, { capabilities: { elicitation: {} }, answer });
    assert.equal((await attended.call("run", HERE)).outcome, "paused");
    const decided = await attended.call("gate", { step: 1, decision: "approved" });
    assert.deepEqual([decided.result.step.gate_result, decided.result.step.gate_mode], ["approved", "human"]);
    assert.match(asked[1], /An agent proposes that step 1 is approved/);
    // A step at high risk needs its name.
    assert.match(asked[2], /type its name: Write/);
  });

  test(`${name}: other calls are answered during a run, and the run can be cancelled`, async (t) => {
    const { client, call, cwd } = await begin(t, server, workflow("exec sleep 1000"));
    const abort = new AbortController();
    const started = new Promise((resolve) => {
      const options = { onprogress: resolve, signal: abort.signal };
      client.callTool({ name: "run", arguments: HERE }, undefined, options).catch(() => undefined);
    });
    await started;
    await client.ping();
    assert.equal((await call("status", {})).result[0].status, "running");
    abort.abort();
    assert.equal((await call("status", {})).result[0].status, "paused");
    assert.ok(existsSync(join(cwd, ".hotl/state")));
  });

  test(`${name}: the end of the conversation pauses a run`, async (t) => {
    const { client, cwd } = await begin(t, server, workflow("exec sleep 1000"));
    await new Promise((resolve) => {
      const options = { onprogress: resolve };
      client.callTool({ name: "run", arguments: HERE }, undefined, options).catch(() => undefined);
    });
    await client.close();
    const [file] = readdirSync(join(cwd, ".hotl/state"));
    assert.equal(JSON.parse(readFileSync(join(cwd, ".hotl/state", file), "utf8")).status, "paused");
  });

  test(`${name}: calls work in the client's folders`, async (t) => {
    const roots = (cwd) => [{ uri: `file://${cwd}/a%20b` }];
    const capabilities = { roots: {} };
    const file = workflow("echo hi > hello.txt");
    const { cwd, call } = await begin(t, server, file, { capabilities, roots });
    const lost = await call("lint", {});
    assert.match(lost.notes, /none of the client's folders is on this machine/);
    workspace.write(cwd, { "a b/hotl-workflow-there.md": file });
    const again = await begin(t, server, file, { capabilities, roots: () => roots(cwd) });
    assert.equal((await again.call("lint", {})).result.files[0].path, "hotl-workflow-there.md");
    assert.equal((await again.call("lint", { directory: ".." })).isError, true);
  });
}

/** Every line with which a server answers these. */
async function answers([command, ...args], t, lines) {
  const cwd = folder(t);
  const child = spawn(command, [...args, "mcp"], { cwd, env: workspace.environment(cwd) });
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  const said = [];
  for await (const bytes of child.stdout) said.push(bytes);
  return Buffer.concat(said).toString();
}

test("both servers say the same, byte for byte", async (t) => {
  const request = (id, method, params = {}) => JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const initialize = { protocolVersion: "2025-11-25", capabilities: {} };
  const lines = [
    request(0, "server/discover"),
    request(1, "initialize", initialize),
    request(2, "tools/list"),
    request(3, "resources/list"),
    request(4, "resources/templates/list"),
    request(5, "tools/call", { name: "lint", arguments: {} }),
    request(6, "tools/call", { name: "permit_explain", arguments: { command: "ls | sort" } }),
    request(7, "tools/call", { name: "next", arguments: { what: 1 } }),
    "nonsense",
    "x".repeat(9 * 1024 * 1024),
    request(8, "ping"),
  ];
  const native = await answers(SERVERS.native, t, lines);
  assert.equal(native.trim().split("\n").length, lines.length);
  assert.equal(await answers(PACKAGE, t, lines), native);
});
