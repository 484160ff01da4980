// The script of the page of `onloop web` in a real Chromium, with a server that says what the test wants.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browser, PHONE } from "../support/pages.mjs";
import { repository } from "../support/workspace.mjs";

const SCRIPT = readFileSync(join(repository, "core/documents/src/page/web/live.js"), "utf8");
const NOW = "2026-11-23T10:00:00+00:00";
const HEADERS = { "content-type": "text/html; charset=utf-8" };

/** Streams of the test's own: they are kept in `streams`, and fail or tell when the test says so. */
function fakeStreams() {
  globalThis.streams = [];
  globalThis.EventSource = class extends EventTarget {
    static CLOSED = 2;
    readyState = 1;
    constructor(url) {
      super();
      this.url = url;
      globalThis.streams.push(this);
    }
    close() {
      this.readyState = 2;
    }
    fail(readyState) {
      this.readyState = readyState;
      this.onerror();
    }
  };
}

/** A page with this content, opened at `path`. Its clock stands still. */
async function opened(t, body, path = "/place/") {
  const context = await browser.newContext({ viewport: PHONE });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.clock.install({ time: NOW });
  await page.clock.pauseAt("2026-11-23T10:00:01Z");
  await page.addInitScript(fakeStreams);
  const server = { body, seen: 1, status: 200, looks: [], posts: 0 };
  await page.route("http://page.test/**", async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    if (pathname === "/live.js") return route.fulfill({ contentType: "text/javascript", body: SCRIPT });
    if (request.method() === "POST") {
      server.posts += 1;
      return route.fulfill({ status: 204 });
    }
    server.looks.push(pathname);
    const html = `<!doctype html><html lang="en"><title>t</title><script src="/live.js" defer></script><p id="live"></p>
      <main id="main" data-page="/place/" data-events="/place/events?seen=${server.seen}" data-now="${NOW}">${server.body}</main>`;
    return route.fulfill({ status: server.status, headers: HEADERS, body: html });
  });
  await page.goto(`http://page.test${path}`);
  const open = () => page.evaluate(() => streams.filter((stream) => stream.readyState !== 2).map((stream) => stream.url));
  const tell = () => page.evaluate(() => streams.at(-1).dispatchEvent(new Event("changed")));
  /** Shows something else, and waits until the page does. */
  const change = async (next) => {
    Object.assign(server, { body: next, seen: server.seen + 1 });
    await tell();
    await page.waitForFunction((seen) => main.dataset.events.endsWith(`=${seen}`), server.seen);
  };
  const fail = (readyState) => page.evaluate((readyState) => streams.at(-1).fail(readyState), readyState);
  const turn = (visibilityState) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, visibilityState);
  return { page, server, open, tell, change, fail, turn };
}

const form = (id) =>
  `<form method="post" action="/place/call/${id}"><input type="hidden" name="form" value="t"><button name="answer" value="allow">Allow ${id}</button></form>`;

test("a visible page gets events from the state that it shows", async (t) => {
  const { page, server, open, turn } = await opened(t, "<p>one</p>");
  assert.deepEqual(await open(), ["/place/events?seen=1"]);
  await turn("hidden");
  assert.deepEqual(await open(), []);
  Object.assign(server, { body: "<p>two</p>", seen: 2 });
  await turn("visible");
  await page.getByText("two").waitFor();
  await page.waitForFunction(() => streams.at(-1).readyState !== 2);
  assert.deepEqual(await open(), ["/place/events?seen=2"]);
});

test("a form that is sent has the connection of the stream; a page that stays listens again", async (t) => {
  const { page, server, open } = await opened(t, form("a"));
  await page.getByText("Allow a").click();
  await page.waitForFunction(() => streams.at(-1).readyState === 2);
  assert.equal(server.posts, 1);
  await page.clock.runFor(15_000);
  assert.deepEqual(await open(), ["/place/events?seen=1"]);
});

test("a lost stream continues from the shown state", async (t) => {
  const { page, open, change, fail } = await opened(t, "<p>one</p>");
  await change("<p>two</p>");
  await fail(0);
  await page.getByText("No connection to onloop.").waitFor();
  assert.deepEqual(await open(), []);
  await page.clock.runFor(2_000);
  assert.deepEqual(await open(), ["/place/events?seen=2"]);
});

test("a page without a stream polls", async (t) => {
  const { page, server, open, fail } = await opened(t, "<p>one</p>");
  for (const word of ["two", "three"]) {
    Object.assign(server, { body: `<p>${word}</p>`, seen: server.seen + 1 });
    await fail(2);
    await page.getByText(word).waitFor();
    assert.deepEqual(await open(), []);
    await page.clock.runFor(15_000);
    assert.equal((await open()).length, 1);
  }
  server.status = 401;
  await fail(2);
  await page.getByText("Signed out.").waitFor();
  await page.clock.runFor(120_000);
  assert.deepEqual(await open(), []);
});

test("what a form led to is the page itself from then on", async (t) => {
  const { page, server, change } = await opened(t, "<p>refused</p>", "/place/run/a/gate");
  assert.equal(new URL(page.url()).pathname, "/place/");
  await change("<p>two</p>");
  assert.deepEqual(server.looks, ["/place/run/a/gate", "/place/"]);
});

test("what is the same stays, and of what changes the focus, the scrolling and what is unfolded", async (t) => {
  const lines = "line\n".repeat(200);
  const body = (word) =>
    `<a href="/x">x</a><details id="log"><summary>Log</summary><pre tabindex="0" style="height:5rem;overflow:auto">${lines}</pre></details>` +
    `<p>${word}</p>${form("a")}`;
  const { page, change } = await opened(t, body("one"));
  await page.getByText("Log").click();
  await page.evaluate(() => {
    document.querySelector("pre").scrollTop = 300;
    document.querySelector("pre").isFirst = true;
  });
  await change(body("one"));
  assert.ok(await page.evaluate(() => document.querySelector("pre").isFirst));
  for (const focus of ["a", "summary", "pre", "button"]) {
    await page.evaluate((focus) => document.querySelector(focus).focus(), focus);
    await change(body(`with ${focus}`));
    assert.equal(await page.evaluate(() => document.activeElement.localName), focus);
  }
  const { isFirst, scrollTop } = await page.evaluate(() => {
    const { isFirst, scrollTop } = document.querySelector("pre");
    return { isFirst, scrollTop };
  });
  assert.deepEqual([isFirst, scrollTop], [undefined, 300]);
});

test("a click on a button that just moved is ignored", async (t) => {
  const { page, server, open, change } = await opened(t, form("a") + form("b"));
  // When a click is over, the form is on its way or will never be.
  const press = async () => {
    await page.getByText("Allow b").click();
    return (await open()).length === 0 ? "sent" : "ignored";
  };
  await change(form("b"));
  assert.equal(await press(), "ignored");
  await page.clock.runFor(700);
  assert.equal(await press(), "sent");
  await page.clock.runFor(15_000);
  await change(`${form("b")}<p>below</p>`);
  assert.equal(await press(), "sent");
  assert.equal(server.posts, 2);
});

test("the keyboard is not led from one decision to another", async (t) => {
  const gate = (step) => `<form method="post" action="/place/run/a/gate"><input type="hidden" name="step" value="${step}">
    <button name="decision" value="approved">Approve</button></form>`;
  const { page, change } = await opened(t, gate(1));
  await page.evaluate(() => document.querySelector("button").focus());
  await change(gate(2));
  assert.equal(await page.evaluate(() => document.activeElement.localName), "body");
});

test("a selection stays while it exists", async (t) => {
  const { page, server, tell } = await opened(t, "<p>onloop resume a</p>");
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector("main p")));
  Object.assign(server, { body: "<p>two</p>", seen: 2 });
  await tell();
  await page.getByText("Something has changed.").waitFor();
  assert.equal(await page.evaluate(() => String(getSelection())), "onloop resume a");
  await page.evaluate(() => getSelection().removeAllRanges());
  await page.getByText("two").waitFor();
});

test("how long ago something was is renewed, in the words of the server; a time of day stays", async (t) => {
  const body = `<time datetime="${NOW}">just now</time><time id="clock" datetime="${NOW}">10:00:00</time>`;
  const { page } = await opened(t, body);
  const words = () => page.evaluate(() => [...document.querySelectorAll("time")].map((time) => time.textContent));
  const minute = 60_000;
  const table = [
    [minute / 2, "just now"],
    [minute, "1 min ago"],
    [58 * minute, "59 min ago"],
    [minute, "1 h ago"],
    [46 * 60 * minute, "47 h ago"],
    [60 * minute, "2 days ago"],
  ];
  for (const [passed, expected] of table) {
    await page.clock.fastForward(passed - minute / 2);
    await page.clock.runFor(30_000);
    assert.deepEqual(await words(), [expected, "10:00:00"]);
  }
});
