// The package serves the same pages and refusals as the native program.

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { GATED, WF } from "./support/scenarios.mjs";
import { decided, send, serve, signIn } from "./support/web.mjs";
import * as workspace from "./support/workspace.mjs";
import { built, folder, npmFolder } from "./support/workspace.mjs";

const NATIVE = [built("ONLOOP_TEST_NATIVE")];
const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];
const FORM = "application/x-www-form-urlencoded";

/** A project whose run waits at a gate. */
function atAGate(t) {
  const top = folder(t);
  const cwd = join(top, "project");
  mkdirSync(cwd);
  const env = workspace.environment(top, { USER: "ann" });
  workspace.write(cwd, { [WF]: GATED });
  workspace.commitAll(cwd, env);
  const begun = workspace.run(NATIVE, ["run", WF, "--agent-command", "echo 3 > n.txt", "--mode", "none"], { cwd, env });
  assert.equal(begun.exit, 3, begun.stderr);
  const runs = join(env.ONLOOP_STATE_HOME, "runs");
  const [id] = readdirSync(runs);
  const ledger = () => readFileSync(join(runs, id, "ledger.jsonl"), "utf8");
  return { cwd, env, id, ledger };
}

/** The path of the stream for the list as it is now. */
async function eventsOf(browser) {
  const { seen } = JSON.parse((await browser.get("/data")).body);
  return `${browser.root}/events?seen=${seen}`;
}

for (const [name, command] of Object.entries({ native: NATIVE, package: PACKAGE })) {
  test(`${name}: a call without the secret shows and changes nothing`, async (t) => {
    const { cwd, env, id, ledger } = atAGate(t);
    const before = ledger();
    const served = await serve(t, command, [], { cwd, env });
    const { host, port, key } = served;
    const browser = await signIn(served);
    assert.match(browser.setCookie, /^onloop=olw_[0-9a-f]{64}; Path=\/[0-9a-f]{32}\/; HttpOnly; SameSite=Strict$/);
    const page = await browser.get(`/data/run/${id}`);
    assert.equal(page.status, 200);
    const action = `${browser.root}/run/${id}`;
    const body = decided(page.body, { action: "approve" });
    const own = { host, origin: `http://${host}`, cookie: browser.cookie, "content-type": FORM };
    const without = (name) => Object.fromEntries(Object.entries(own).filter(([key]) => key !== name));
    const refused = [
      [401, "POST", action, without("cookie"), body],
      [403, "POST", action, without("origin"), body],
      [403, "POST", action, { ...own, origin: "http://evil.example" }, body],
      [403, "POST", action, { ...own, origin: "null" }, body],
      [403, "POST", action, { ...own, "sec-fetch-site": "cross-site" }, body],
      [403, "POST", action, { ...own, host: `evil.example:${port}` }, body],
      [403, "POST", action, { ...own, host: "127.0.0.1" }, body],
      [403, "POST", action, own, "action=approve&step=1"],
      [400, "POST", action, { ...own, "content-type": "text/plain" }, body],
      [404, "GET", `${action}/gate`, own, ""],
      [401, "GET", `${browser.root}/data/run/${id}`, { host }, ""],
      [403, "GET", `${browser.root}/data`, { ...own, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" }, ""],
      [405, "PUT", action, own, body],
      [401, "GET", "/", { host }, ""],
      [401, "GET", `${browser.root}/`, { host }, ""],
      [401, "GET", `/in/${key}`, { host }, ""],
      [401, "POST", "/in", without("cookie"), `key=${key}`],
      [413, "POST", action, own, "x".repeat(64 * 1024 + 1)],
      [401, "POST", "/run/x", own, body],
    ];
    for (const [status, method, path, headers, sent] of refused) {
      const answer = await send(port, method, path, headers, sent);
      assert.equal(answer.status, status, `${method} ${path} ${JSON.stringify(headers)}\n${answer.body}`);
      assert.ok(!answer.body.includes("approve"), answer.body);
    }
    assert.equal(ledger(), before);
    const out = await browser.post("/out", `form=${JSON.parse(page.body).out}`);
    assert.equal(out.status, 200);
    const late = await send(port, "POST", action, own, body);
    assert.equal(late.status, 401);
    assert.equal(ledger(), before);
  });

  test(`${name}: a person approves, and the stream reports changes`, async (t) => {
    const { cwd, env, id, ledger } = atAGate(t);
    // With a frozen clock the server reads nothing again.
    const { ONLOOP_NOW: _, ...moving } = env;
    const served = await serve(t, command, [], { cwd, env: moving });
    const browser = await signIn(served);
    const stream = connect(served.port, "127.0.0.1");
    await once(stream, "connect");
    t.after(() => stream.destroy());
    let heard = "";
    stream.setEncoding("utf8").on("data", (text) => (heard += text));
    const events = await eventsOf(browser);
    stream.write(`GET ${events} HTTP/1.1\r\nhost: ${served.host}\r\ncookie: ${browser.cookie}\r\n\r\n`);
    while (!heard.includes("retry: 2000")) await once(stream, "data");
    const page = await browser.get(`/data/run/${id}`);
    const action = `/run/${id}`;
    const approved = await browser.post(action, decided(page.body, { action: "approve" }));
    assert.equal(approved.status, 200, approved.body);
    assert.ok(ledger().includes('"channel":"web"') && ledger().includes('"user":"ann"'), ledger());
    assert.ok(!ledger().includes("olw_"));
    const since = performance.now();
    while (!heard.includes("event: changed")) await once(stream, "data");
    // Without an event the server reads every fifteen seconds.
    assert.ok(performance.now() - since < 10_000);
    const again = await browser.post(action, decided(page.body, { action: "reject" }));
    assert.equal(again.status, 409);
  });

  test(`${name}: a page above the limit gets no stream until another one closes`, async (t) => {
    const served = await serve(t, command, [], atAGate(t));
    const browser = await signIn(served);
    const events = await eventsOf(browser);
    const listen = async () => {
      const socket = connect(served.port, "127.0.0.1");
      t.after(() => socket.destroy());
      socket.write(`GET ${events} HTTP/1.1\r\nhost: ${served.host}\r\ncookie: ${browser.cookie}\r\n\r\n`);
      const [head] = await once(socket.setEncoding("utf8"), "data");
      return { socket, status: Number(head.split(" ")[1]) };
    };
    const pages = [];
    for (let count = 0; count < 16; count += 1) pages.push(await listen());
    assert.deepEqual([...new Set(pages.map(({ status }) => status))], [200]);
    assert.equal((await listen()).status, 204);
    pages[0].socket.destroy();
    // The server notices a disconnect later.
    let status = 204;
    while (status === 204) ({ status } = await listen());
    assert.equal(status, 200);
  });

  test(`${name}: slow or many clients do not delay others`, async (t) => {
    const { cwd, env } = atAGate(t);
    const served = await serve(t, command, [], { cwd, env });
    const browser = await signIn(served);
    const idle = Array.from({ length: 40 }, () => connect(served.port, "127.0.0.1"));
    t.after(() => idle.forEach((socket) => socket.destroy()));
    await Promise.all(idle.map((socket) => once(socket, "connect")));
    for (const socket of idle) socket.on("error", () => undefined).write("GET / HTTP/1.1\r\nhost: ");
    assert.equal((await browser.get("/")).status, 200);
    const large = await send(served.port, "GET", "/", { host: served.host, a: "x".repeat(17_000) });
    assert.equal(large.status, 431);
  });

  test(`${name}: a trace has no secret`, async (t) => {
    const { cwd, env } = atAGate(t);
    const trace = join(cwd, "trace.jsonl");
    const served = await serve(t, command, [], { cwd, env: { ...env, ONLOOP_TRACE: trace } });
    const browser = await signIn(served);
    assert.equal((await browser.get("/")).status, 200);
    served.child.kill("SIGINT");
    const [exit] = await once(served.child, "close");
    assert.equal(exit, 130);
    const recorded = readFileSync(trace, "utf8");
    assert.ok(recorded.includes('"serve":"answer"'));
    for (const rest of recorded.split("olw_").slice(1)) assert.ok(rest.startsWith("[redacted]"), rest.slice(0, 80));
    assert.ok(!recorded.includes(browser.cookie));
  });
}

test("both hosts serve the same pages and facts", async (t) => {
  const { cwd, env, id } = atAGate(t);
  const pages = [];
  for (const command of [NATIVE, PACKAGE]) {
    const served = await serve(t, command, [], { cwd, env });
    const browser = await signIn(served);
    const plain = (text) => text.replaceAll(browser.root, "").replace(/olw_[0-9a-f]{64}/g, "olw_");
    const run = `/data/run/${id}`;
    const parts = ["attempts?step=1", "log?attempt=1-1", "prompt?attempt=1-1", "diff?of=run"].map((part) => `${run}/${part}`);
    for (const path of ["/", "/data", run, ...parts, "/nothing"]) {
      const { status, body } = await browser.get(path);
      assert.equal(status, path === "/nothing" ? 404 : 200, path);
      pages.push([command === NATIVE, path, status, plain(body)]);
    }
    await served.stop();
  }
  const of = (isNative) => pages.filter(([native]) => native === isNative).map(([, ...rest]) => rest);
  assert.deepEqual(of(true), of(false));
});
