// The server of tools that the extension contributes, started as an editor starts it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../test/support/temporary.mjs";
import { load } from "./support/modules.mjs";

const { mcpServer } = await load("mcp_command");
const folder = temporaryFolder("onloop-vscode-");
after(() => rmSync(folder, { recursive: true, force: true }));

test("the server offers the tools of onloop", async () => {
  const program = fileURLToPath(new URL("../dist/program.js", import.meta.url));
  const variables = { PATH: process.env.PATH, HOME: folder, VSCODE_PID: "1" };
  const parts = { node: process.execPath, program, launcher: "/launcher", agent: "script", env: variables };
  const { command, args, env: changed } = mcpServer(parts);
  assert.deepEqual(changed, { VSCODE_PID: null, ELECTRON_RUN_AS_NODE: "1", ONLOOP_AGENT: "script" });
  assert.equal(mcpServer({ ...parts, agent: "" }).env.ONLOOP_AGENT, undefined);
  const env = Object.fromEntries(Object.entries({ ...variables, ...changed }).filter(([, value]) => value !== null));
  const server = spawn(command, args, { cwd: folder, env, stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const ask = async (method, params) => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: method, method, params })}\n`);
    return JSON.parse((await lines.next()).value).result;
  };
  const clientInfo = { name: "test", version: "1" };
  const { serverInfo } = await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  assert.equal(serverInfo.name, "onloop");
  server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const { tools } = await ask("tools/list", {});
  const names = tools.map(({ name }) => name);
  for (const name of ["run", "status", "next", "step", "gate", "report"]) assert.ok(names.includes(name), names.join());
  server.stdin.end();
  await once(server, "exit");
});

test("the manifest names the server, and no second set of tools", () => {
  const { contributes } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.deepEqual(contributes.mcpServerDefinitionProviders, [{ id: "onloop.mcp", label: "onloop" }]);
  assert.equal(contributes.languageModelTools, undefined);
});
