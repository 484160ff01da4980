// The pages of the extension, with the real program that answers them.

import assert from "node:assert/strict";
import { readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { NodeHost, load as loadCore } from "onloop";
import { temporaryFolder } from "../../test/support/temporary.mjs";
import { load } from "./support/modules.mjs";

const core = loadCore();
const { runProgram, endAll } = await load("run_program");
const { WebBridge } = await load("web_bridge");
const { PageConnection } = await load("page_connection");
const { pageHtml } = await load("page_html");

// Isolates the tests from the person who runs them; where `CI` is set, nothing starts drivers.
for (const name of Object.keys(process.env)) if (/^(ONLOOP|HOTL|GIT)_|^CI$/.test(name)) delete process.env[name];
const [state, folder] = [temporaryFolder("onloop-vscode-state-"), realpathSync(temporaryFolder("onloop-vscode-"))];
process.env.ONLOOP_STATE_HOME = state;
after(() => [state, folder].forEach((folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })));

const WORKFLOW = `---
intent: Greet
success_criteria: There is a greeting
risk_level: low
---
- [ ] **Step 1: Look**
action: Look at it.
loop: false
gate: human

- [ ] **Step 2: Greet**
action: Write greeting.txt.
loop: false
verify: test -s greeting.txt

\`\`\`sh
echo hello > greeting.txt
\`\`\`
`;

const ONLOOP = [process.execPath, fileURLToPath(new URL("../../bin/onloop.mjs", import.meta.url))];

/** `onloop web` for pages, as the extension runs it. */
function program() {
  const [bridge, end] = [new WebBridge(new NodeHost({ cwd: folder, attended: false })), new AbortController()];
  const ended = runProgram(core, {
    folder,
    argv: ["web"],
    signal: end.signal,
    program: ONLOOP,
    listener: { result: (text) => bridge.heard(text) },
    serve: (request, signal) => bridge.perform(request, signal),
  }).finally(() => bridge.end());
  return { bridge, end, ended };
}

/** A page: what it sends, and what it gets. */
function page(bridge) {
  const [got, places, waiting] = [[], [], []];
  const post = (message) => {
    got.push(message);
    waiting.splice(0).forEach((look) => look());
  };
  const connection = new PageConnection(() => bridge, post, (place) => places.push(place));
  const message = async (wanted) => {
    for (;;) {
      const found = got.find(wanted);
      if (found !== undefined) return found;
      await new Promise((look) => waiting.push(look));
    }
  };
  let last = 0;
  const ask = async (request) => {
    const id = `page-${(last += 1)}`;
    connection.receive({ id, ...request });
    return (await message((message) => message.id === id)).reply;
  };
  return { connection, got, places, message, ask };
}

test("a page shows a run, hears of changes, and decides in the name of the editor", async () => {
  const file = join(folder, "hotl-workflow-greet.md");
  writeFileSync(file, WORKFLOW);
  const { exit, runId } = await runProgram(core, { folder, argv: ["run", file, "--agent", "script", "--mode", "none"] });
  assert.equal(exit, 3);
  const { bridge, end, ended } = program();
  const { connection, message, ask } = page(bridge);

  const { status, value } = await ask({ get: `/data/run/${runId}` });
  assert.deepEqual([status, value.run.card.intent, value.run.choice.step], [200, "Greet", 1]);
  connection.receive({ id: "stream", listen: `/events?${new URLSearchParams({ run: runId, seen: value.seen })}` });
  await message(({ id, news }) => id === "stream" && news === "opened");

  const fields = { action: "approve", step: "1", seen: value.run.seen };
  assert.equal((await ask({ post: `/run/${runId}`, fields: new URLSearchParams({ ...fields, form: "olw_0" }).toString() })).status, 403);
  const done = await ask({ post: `/run/${runId}`, fields: new URLSearchParams({ ...fields, form: value.token }).toString() });
  assert.equal(done.status, 200, done.value.said);
  assert.match(done.value.said, /continues in the background/);
  await message(({ id, news }) => id === "stream" && news === "changed");

  // Everything that the driver does is news, up to the end of the run.
  for (;;) {
    const { value } = await ask({ get: `/data/run/${runId}` });
    if (value.run.card.state === "completed") break;
    const id = `until ${value.seen}`;
    connection.receive({ id, listen: `/events?${new URLSearchParams({ run: runId, seen: value.seen })}` });
    await message((message) => message.id === id && message.news === "changed");
    connection.receive({ id, close: true });
  }
  const ledger = readFileSync(join(folder, ".hotl", "state", `${runId}.json`), "utf8");
  assert.match(readFileSync(join(state, "runs", runId, "ledger.jsonl"), "utf8"), /"channel":"editor"/);
  assert.match(ledger, /"completed"/);
  assert.equal((await ask({ get: "/data/run/none" })).status, 404);
  end.abort();
  assert.equal((await ended).exit, 130);
});

test("a page whose program has ended hears that", async () => {
  const { bridge, end, ended } = program();
  const { connection, got, message, ask } = page(bridge);
  const { value } = await ask({ get: "/data" });
  connection.receive({ id: "stream", listen: `/events?${new URLSearchParams({ seen: value.seen })}` });
  await message(({ news }) => news === "opened");
  // The window does this when it closes.
  await endAll();
  assert.equal((await ended).exit, 130);
  assert.deepEqual(got.at(-1), { id: "stream", news: "lost" });
  assert.equal(await ask({ get: "/data" }), undefined);
  assert.equal(end.signal.aborted, false);
});

test("what a page sends becomes a call as of a browser, and nothing else does", async () => {
  const calls = [];
  const bridge = new WebBridge({ perform: () => new Promise(() => undefined), interrupt: () => undefined });
  const { signal } = new AbortController();
  const next = async () => {
    const call = await bridge.perform({ serve: "next", wait_ms: null, folders: [] }, signal);
    calls.push(call);
    return call;
  };
  const answer = (call, status, headers = [], body = "", open = false) =>
    bridge.perform({ serve: "answer", call, answer: { status, headers, body: new TextEncoder().encode(body), open } }, signal);
  const { port, secret } = await bridge.perform({ serve: "listen", port: 0 }, signal);
  assert.ok(port > 0 && secret.length === 32);
  const { connection, got, places, ask } = page(bridge);
  for (const odd of [undefined, null, 7, "text", {}, { id: 7, get: "/" }, { get: "/" }]) connection.receive(odd);
  connection.receive({ place: "/run/a" });
  assert.deepEqual(places, ["/run/a"]);
  const data = ask({ get: "/data?a=b" });
  bridge.heard(`http://127.0.0.1:${port}/in/olw_1\n`);
  const entering = await next();
  assert.deepEqual([entering.method, entering.target, new TextDecoder().decode(entering.body)], ["POST", "/in", "key=olw_1"]);
  assert.deepEqual(Object.fromEntries(entering.headers), {
    host: `127.0.0.1:${port}`,
    origin: `http://127.0.0.1:${port}`,
    "content-type": "application/x-www-form-urlencoded",
  });
  await answer(entering.call, 303, [["location", "/root/"], ["set-cookie", "onloop=olw_2; Path=/root/; HttpOnly"]]);
  const asked = await until(next);
  assert.deepEqual([asked.method, asked.target], ["GET", "/root/data?a=b"]);
  assert.deepEqual(Object.fromEntries(asked.headers), { host: `127.0.0.1:${port}`, cookie: "onloop=olw_2" });
  await answer(asked.call, 200, [["content-type", "application/json"]], '{"a":1}');
  assert.deepEqual(await data, { status: 200, value: { a: 1 } });

  connection.receive({ id: "s", listen: "/events?seen=x" });
  const listening = await until(next);
  await answer(listening.call, 200, [], "retry: 2000\n\n", true);
  const push = (text) => bridge.perform({ serve: "push", call: listening.call, bytes: new TextEncoder().encode(text) }, signal);
  await push("event: changed\ndata:\n\n");
  await push(": still here\n\n");
  assert.deepEqual(got.slice(-2), [{ id: "s", news: "opened" }, { id: "s", news: "changed" }]);
  connection.close();
  await assert.rejects(push(": still here\n\n"), { kind: "closed" });
  await assert.rejects(answer(listening.call, 200), { kind: "not_found" });
});

/** A call that was sent in the meantime. */
async function until(next) {
  await new Promise((resolve) => setImmediate(resolve));
  return next();
}

test("the document of a page runs no script but its own", () => {
  const files = { script: "https://e/app.js", styles: ["https://e/app.css"], origin: "https://e" };
  const html = pageHtml(files, '/run/a"><script>alert(1)</script>');
  assert.equal(html.match(/<script/g).length, 1);
  const nonce = /script-src 'nonce-([\w-]{24})'; style-src https:\/\/e;/.exec(html)?.[1];
  assert.ok(nonce !== undefined && html.includes(`<script nonce="${nonce}" src="https://e/app.js" defer>`), html);
  assert.notEqual(pageHtml(files, "/"), pageHtml(files, "/"));
});
