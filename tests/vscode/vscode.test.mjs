import assert from "node:assert/strict";
import { after, test } from "node:test";
import { server, suite, workspace } from "./editor.mjs";

const TRUSTED = { "security.workspace.trust.enabled": false };
const started = [];
after(() => Promise.all(started.map((server) => server.close())));

async function begin(settings) {
  const begun = await server(settings);
  started.push(begun);
  return begun;
}

function passed({ passed, failed }) {
  assert.deepEqual(failed, [], failed.map((words) => words.join("\n")).join("\n\n"));
  assert.ok(passed.length > 0, "the suite has no tests");
  for (const name of passed) console.log(`  ${name}`);
}

test("a host with Node", async () => {
  const host = await begin(TRUSTED);
  const folder = workspace(host.home, "plain");
  passed(await suite(host, { kind: "node", name: "language", folder }));
});

test("a web worker", async () => {
  const host = await begin({ ...TRUSTED, "remote.extensionKind": { "onloop.onloop": ["web"] } });
  const folder = workspace(host.home, "plain");
  passed(await suite(host, { kind: "web", name: "language", folder }));
});
