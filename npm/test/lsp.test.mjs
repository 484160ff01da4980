// The language server through Node and as the native program: the same conversation, byte for byte,
// however it is cut into pieces.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import * as workspace from "./support/workspace.mjs";
import { built, folder, npmFolder } from "./support/workspace.mjs";

const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];
const SERVERS = { native: [built("ONLOOP_TEST_NATIVE")], package: PACKAGE };
const URI = "file:///srv/repo/hotl-workflow-a.md";
const TEXT = "---\nintent: 😀\nsuccess_criteria: b\nrisk_level: low\n---\n\n- [ ] **Step 1: A**\naction: a\nloop: no\n";

function framed(message) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** A server, its output, and a wait for further output. */
function start(t, [command, ...args]) {
  const cwd = folder(t);
  const server = spawn(command, [...args, "lsp"], { cwd, env: workspace.environment(cwd) });
  t.after(() => server.kill());
  let said = "";
  let wake = () => undefined;
  server.stdout.on("data", (bytes) => {
    said += bytes;
    wake();
  });
  const until = async (text) => {
    while (!said.includes(text)) await new Promise((resolve) => (wake = resolve));
  };
  const ended = new Promise((resolve) => server.on("close", resolve));
  return { server, until, ended, said: () => said };
}

async function converse(t, command, pieceBytes) {
  const { server, until, ended, said } = start(t, command);
  const write = (bytes) => {
    for (let at = 0; at < bytes.length; at += pieceBytes) server.stdin.write(bytes.subarray(at, at + pieceBytes));
  };
  const document = { uri: URI };
  write(framed({ id: 1, method: "initialize", params: { capabilities: {} } }));
  write(framed({ method: "textDocument/didOpen", params: { textDocument: { ...document, version: 1, text: TEXT } } }));
  await until("invalid-loop");
  write(framed({ id: 2, method: "textDocument/documentSymbol", params: { textDocument: document } }));
  write(framed({ id: 3, method: "textDocument/formatting", params: { textDocument: document, options: {} } }));
  write(framed({ id: 4, method: "shutdown" }));
  write(framed({ method: "exit" }));
  assert.equal(await ended, 0);
  return said();
}

test("both answer the same, however the input is split", async (t) => {
  const expected = await converse(t, SERVERS.native, 100_000);
  assert.match(expected, /"id":4/);
  for (const pieceBytes of [1, 50, 100_000]) {
    assert.equal(await converse(t, SERVERS.package, pieceBytes), expected, `${pieceBytes} bytes`);
  }
});

for (const [name, command] of Object.entries(SERVERS)) {
  test(`${name}: a broken frame and the end of input end the conversation`, async (t) => {
    const broken = start(t, command);
    broken.server.stdin.write("Content-Length: -1\r\n\r\n");
    assert.equal(await broken.ended, 1);
    assert.match(broken.said(), /`Content-Length` is `-1`; expected a number of bytes/);
    const gone = start(t, command);
    gone.server.stdin.end(framed({ id: 1, method: "initialize" }).subarray(0, 30));
    assert.equal(await gone.ended, 1);
    assert.equal(gone.said(), "");
  });
}
