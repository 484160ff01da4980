// The script of the page of `onloop web` in a real Chromium, with a server that says what the test wants.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browser, PHONE } from "../support/pages.mjs";
import { repository } from "../support/workspace.mjs";

const bundled = (name) => readFileSync(join(repository, "core/documents/src/page/web", name), "utf8");
const [SCRIPT, STYLE] = ["app.js", "app.css"].map(bundled);
const NOW = "2026-11-23T10:00:00.000Z";
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";
const STATES = {
  waits: { mark: "⏸", words: "Waiting for you", needs_person: true, is_over: false },
  running: { mark: "→", words: "Running", needs_person: false, is_over: false },
  interrupted: { mark: "■", words: "Interrupted", needs_person: true, is_over: false },
  idle: { mark: "■", words: "Interrupted", needs_person: false, is_over: false },
};
const HOSTILE = "<img src=x onerror=\"document.title='owned'\">";

const card = (more = {}) => ({
  id: "a-20261123T090000Z", state: "waits", now: "the gate of step 1 waits for you", intent: "Round prices", folder: "/w", repository: "shop",
  step: 1, step_name: "One", steps: 2, done: 1, risk: "low", changed_at: NOW, attempts: 1, active_ms: 5000, in_fleet: false, ...more,
});
const call = (id) => ({ id, session: "s", folder: "/w", tool: "Bash", target: `rm ${id}`, complete: true, reason: "asked", since: NOW });

/** Everything on a machine. */
const board = (runs, calls = [], autos = []) => ({
  now: NOW, states: STATES, out: "olw_out", days: [], agents: [], tokens: Object.fromEntries(calls.map(({ id }) => [id, `olw_${id}`])),
  board: { runs, left_out: 0, sessions: [], autos, calls },
});

/** A run at the gate of a step. */
const gated = (step, record, more = {}) => ({
  now: NOW, states: STATES, out: "olw_out", token: "olw_run", spans: [],
  run: {
    card: card(), steps: [1, 2].map((number) => ({ number, name: `Part ${number}`, symbol: "✓", status: "Done", attempts: 1, limit: 1 })),
    choice: { step, question: `the gate of step ${step} waits for you`, is_gate: true },
    facts: { action: "do it", risk: "low", checks: [], earlier: [], changes: "", said: "" },
    events: [], actions: ["approve", "redo", "reject"], workflow: "w.md", report: "r.md", seen: record, ...more,
  },
});

/** Streams of the test's own: they are kept in `streams`, and fail or tell when the test says so. */
function fakeStreams() {
  globalThis.streams = [];
  const { json } = Response.prototype;
  // What the page has read last.
  Response.prototype.json = async function () {
    const facts = await json.call(this);
    if (facts.seen !== undefined) setTimeout(() => (globalThis.read = facts.seen));
    return facts;
  };
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

/** A page that shows these facts. Its clock stands still, unless it `runs`. */
async function opened(t, facts, path = "/place/", runs = false) {
  const context = await browser.newContext({ viewport: PHONE });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.clock.install({ time: NOW });
  if (!runs) await page.clock.pauseAt("2026-11-23T10:00:01Z");
  await page.addInitScript(fakeStreams);
  const server = { facts, seen: 1, status: 200, posts: [] };
  await page.route("http://page.test/**", async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    const json = (body, status = 200) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify(body) });
    if (pathname === "/app.js") return route.fulfill({ contentType: "text/javascript", body: SCRIPT });
    if (pathname === "/app.css") return route.fulfill({ contentType: "text/css", body: STYLE });
    if (request.method() === "POST") {
      server.posts.push(Object.fromEntries(new URLSearchParams(request.postData())));
      return json({ said: "It is done." });
    }
    if (pathname.endsWith("/attempts")) return json(server.facts.attempts ?? []);
    if (pathname.endsWith("/log")) return json(server.facts.log ?? []);
    if (pathname.endsWith("/diff")) return json({ patch: server.facts.patches?.[new URL(request.url()).searchParams.get("of")] ?? server.facts.patch ?? "" });
    if (pathname.startsWith("/place/data")) return json({ ...server.facts, seen: String(server.seen) }, server.status);
    const html = `<!doctype html><html lang="en"><title>t</title><link rel="stylesheet" href="/app.css"><script src="/app.js" defer></script><div id="app" data-root="/place"></div>`;
    return route.fulfill({ contentType: "text/html; charset=utf-8", headers: { "content-security-policy": POLICY }, body: html });
  });
  await page.goto(`http://page.test${path}`);
  /** Lets the page draw and ask until `wanted` is there; its clock moves by little. */
  const until = async (wanted) => {
    for (let tries = 0; !(await wanted()); tries += 1) {
      assert.ok(tries < 200, `the page does not come to ${wanted}`);
      await page.clock.runFor(2);
    }
  };
  const shows = (locator) => until(() => locator.isVisible());
  await until(() => page.evaluate(() => streams.length > 0));
  const open = () => page.evaluate(() => streams.filter((stream) => stream.readyState !== 2).map((stream) => stream.url));
  const tell = () => page.evaluate(() => streams.at(-1).dispatchEvent(new Event("changed")));
  /** Shows something else, and waits until the page has read it. */
  const change = async (next) => {
    Object.assign(server, { facts: next, seen: server.seen + 1 });
    await tell();
    await until(() => page.evaluate((seen) => globalThis.read === seen, String(server.seen)));
    await page.clock.runFor(20);
  };
  const fail = (readyState) => page.evaluate((readyState) => streams.at(-1).fail(readyState), readyState);
  const turn = (visibilityState) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, visibilityState);
  return { page, server, open, change, fail, turn, until, shows };
}

const RUN = "/place/run/a-20261123T090000Z";

test("a visible page gets events from the state that it shows", async (t) => {
  const { page, server, open, turn, until, shows } = await opened(t, board([card()]));
  assert.deepEqual(await open(), ["/place/events?seen=1"]);
  await turn("hidden");
  assert.deepEqual(await open(), []);
  Object.assign(server, { facts: board([card({ intent: "Round down" })]), seen: 2 });
  await turn("visible");
  await shows(page.getByRole("link", { name: "Round down", exact: true }));
  await until(async () => (await open()).length > 0);
  assert.deepEqual(await open(), ["/place/events?seen=2"]);
});

test("a lost stream continues from the shown state", async (t) => {
  const { page, open, change, fail, shows } = await opened(t, board([card()]));
  await change(board([card({ intent: "Round down" })]));
  await shows(page.getByRole("link", { name: "Round down", exact: true }));
  await fail(0);
  await shows(page.getByText("No connection to onloop."));
  assert.deepEqual(await open(), []);
  await page.clock.runFor(2_000);
  assert.deepEqual(await open(), ["/place/events?seen=2"]);
});

test("a page without a stream reads again until it is signed out", async (t) => {
  const { page, server, open, fail, shows } = await opened(t, board([card()]));
  for (const intent of ["two", "three"]) {
    Object.assign(server, { facts: board([card({ intent })]), seen: server.seen + 1 });
    await fail(2);
    await shows(page.getByRole("link", { name: intent, exact: true }));
    assert.deepEqual(await open(), []);
    await page.clock.runFor(15_000);
    assert.equal((await open()).length, 1);
  }
  server.status = 401;
  await fail(2);
  await shows(page.locator("#live").getByText("Signed out."));
  await page.clock.runFor(120_000);
  assert.deepEqual(await open(), []);
});

test("what is written, the focus, the selection and the scrolling stay when facts change", async (t) => {
  const said = Array.from({ length: 200 }, (_, line) => `line ${line}`).join("\n");
  const at = (events) => gated(1, "r1", { events, facts: { action: "do it", risk: "low", checks: [], earlier: [], changes: "", said } });
  const { page, change, shows } = await opened(t, at([]), RUN);
  const note = page.getByLabel("What the agent should do instead");
  await shows(note);
  await note.fill("half a sentence");
  const pane = page.getByLabel("The end of what the agent said");
  await pane.evaluate((pane) => (pane.scrollTop = 40));
  const top = await pane.evaluate((pane) => pane.scrollTop);
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector("h1")));
  await note.focus();
  await change(at([{ at: NOW, text: "something" }]));
  assert.equal(await note.inputValue(), "half a sentence");
  assert.equal(await page.evaluate(() => document.activeElement.id), "reason");
  assert.equal(await pane.evaluate((pane) => pane.scrollTop), top);
});

test("a click just after the decision has changed is ignored", async (t) => {
  const { page, server, change, until, shows } = await opened(t, gated(1, "r1"), RUN);
  const approve = (step) => page.getByRole("button", { name: `Approve step ${step}` });
  const isEnabled = (button) => async () => (await button.isVisible()) && (await button.isEnabled());
  await until(isEnabled(approve(1)));
  await page.clock.runFor(700);
  await change(gated(2, "r2"));
  await until(isEnabled(approve(2)));
  await approve(2).click();
  assert.deepEqual(server.posts, []);
  await page.clock.runFor(700);
  await approve(2).click();
  await shows(page.getByText("It is done."));
  assert.deepEqual(server.posts, [{ seen: "r2", action: "approve", step: "2", name: "", form: "olw_run" }]);
});

test("the keyboard is not led from one decision to another", async (t) => {
  const { page, change, until, shows } = await opened(t, gated(1, "r1"), RUN);
  const first = page.getByRole("button", { name: "Approve step 1" });
  await until(async () => (await first.isVisible()) && (await first.isEnabled()));
  await first.focus();
  await change(gated(2, "r2"));
  await shows(page.getByRole("button", { name: "Approve step 2" }));
  assert.equal(await page.evaluate(() => document.activeElement.localName), "body");
});

test("calls are answered by their own tokens, and the answer is shown", async (t) => {
  const { page, server, shows } = await opened(t, board([], [call("aa"), call("bb")]));
  await shows(page.getByText("rm bb"));
  await page.clock.runFor(700);
  await page.getByRole("listitem").filter({ hasText: "rm bb" }).getByRole("button", { name: "Allow once" }).click();
  await shows(page.getByText("It is done."));
  assert.deepEqual(server.posts, [{ answer: "allow", form: "olw_bb" }]);
});

test("text of agents stays text", async (t) => {
  const hostile = board([card({ intent: HOSTILE, now: HOSTILE, branch: HOSTILE, agent: HOSTILE, repository: HOSTILE })], [{ ...call("aa"), tool: HOSTILE, target: HOSTILE, reason: HOSTILE }]);
  const { page, shows } = await opened(t, hostile, undefined, true);
  await shows(page.getByRole("link", { name: HOSTILE }).first());
  assert.equal(await page.locator("img").count(), 0);
  await page.waitForFunction(() => document.title === "(2) onloop");
});

test("runs are found by words, state and repository, and by the keyboard", async (t) => {
  const runs = [
    card(),
    card({ id: "b-20261123T090000Z", intent: "Limit requests", repository: "api", state: "running" }),
    card({ id: "c-20261123T090000Z", intent: "Limit uploads", repository: "shop", state: "running" }),
  ];
  const { page, shows } = await opened(t, board(runs), undefined, true);
  await shows(page.getByRole("link", { name: "Limit uploads" }));
  const shown = (...intents) =>
    page.waitForFunction(
      (intents) => [...document.querySelectorAll("ul.rows a")].map((link) => link.textContent).join() === intents,
      intents.join(),
    );
  await page.keyboard.press("/");
  await page.keyboard.type("limit");
  await shown("Limit requests", "Limit uploads");
  await page.getByLabel("Repository").selectOption("shop");
  await shown("Limit uploads");
  await page.getByLabel("Search runs").fill("");
  await page.getByRole("button", { name: /Waiting for you/ }).click();
  await shown("Round prices");
  await page.getByRole("button", { name: /^All/ }).click();
  await shown("Round prices", "Limit uploads");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("o");
  await page.waitForURL(/\/run\/c-/);
});

test("states with the same words are one filter", async (t) => {
  const runs = ["interrupted", "idle", "waits"].map((state, at) => card({ id: `s${at}-20261123T090000Z`, intent: `Run ${at}`, state }));
  const { page, shows } = await opened(t, board(runs), undefined, true);
  const chips = page.getByRole("group", { name: "State" }).getByRole("button");
  await shows(chips.first());
  const words = await chips.allInnerTexts();
  assert.deepEqual(words.map((words) => words.replace("■", "").trim().replace("\n", " ")), ["All 3", "Waiting for you 1", "Interrupted 2"]);
  await chips.last().click();
  await shows(page.getByText("2 runs shown"));
});

test("many runs are shown when they are asked for, and found before", async (t) => {
  const runs = Array.from({ length: 300 }, (_, index) => card({ id: `r${index}-20261123T090000Z`, intent: `Change part ${index}`, state: "running" }));
  const { page, shows, until } = await opened(t, board(runs), undefined, true);
  const count = () => page.locator("ul.rows li").count();
  await shows(page.getByRole("button", { name: "Show all 300 runs" }));
  assert.equal(await count(), 60);
  await page.getByLabel("Search runs").fill("part 299");
  await until(async () => (await count()) === 1);
  await page.getByLabel("Search runs").fill("");
  await page.getByRole("button", { name: "Show all 300 runs" }).click();
  await until(async () => (await count()) === 300);
});

test("how long ago something was is renewed", async (t) => {
  const { page, shows } = await opened(t, board([card({ changed_at: NOW, since: NOW })]));
  await shows(page.locator(".rows time"));
  const words = () => page.locator(".rows time").innerText();
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
    assert.equal(await words(), expected);
  }
});

const minutes = (count) => new Date(Date.parse(NOW) + count * 60_000).toISOString();

test("the timeline of a run that waits ends now, and moves on", async (t) => {
  const facts = gated(2, "r1", {
    card: card({ started_at: minutes(-60) }),
    events: [{ at: minutes(-60), text: "→ Step 1" }],
  });
  facts.spans = [
    { step: 1, kind: "failed", from: minutes(-60), to: minutes(-50) },
    { step: 1, kind: "acted", from: minutes(-50), to: minutes(-40) },
    { step: 2, kind: "acted", from: minutes(-40), to: minutes(-30) },
    { step: 2, kind: "waits", from: minutes(-30) },
  ];
  const { page, shows } = await opened(t, facts, `${RUN}?tab=events`);
  const timeline = page.locator(".timeline");
  await shows(timeline);
  const bars = () => timeline.locator("rect").evaluateAll((all) => all.map((bar) => `${bar.getAttribute("class")} ${bar.getAttribute("x")}`));
  assert.deepEqual(await bars(), ["bad 0", "good 167", "good 333", "wait 500"]);
  assert.match(await timeline.locator("tfoot").innerText(), /now\s+1 h$/);
  assert.match(await timeline.innerText(), /Part 2\s+10 min\s+waited 30 min/);
  // Its effects begin after it is drawn.
  await page.clock.runFor(100);
  await page.clock.fastForward(30 * 60_000);
  await page.clock.runFor(30_000);
  await shows(timeline.getByText("waited 1 h"));
});

const attempt = (number, more = {}) => ({
  number, started_at: minutes(-3), acted_at: minutes(-1), ended_at: minutes(-1), result: "passed", output: "", checks: [], ...more,
});

const patch = (...names) => names.map((name) => `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1,8 @@\n${"+line\n".repeat(8)}`).join("");
const names = ["a", "b", "c", "d", "e", "f"].map((name) => `src/${name}.txt`);

test("a decision stands beside its evidence, on the first screen, with the change of the step and of the run", async (t) => {
  const facts = gated(2, "r1");
  facts.patches = { unapproved: patch(...names), 2: patch("src/f.txt") };
  const { page, shows } = await opened(t, facts, RUN);
  await page.setViewportSize({ width: 1440, height: 900 });
  await shows(page.getByText("1 file changed"));
  const [button, stat, file] = await Promise.all(
    [page.getByRole("button", { name: "Approve step 2" }), page.getByText("6 files changed"), page.locator(".file").first()].map((part) => part.boundingBox()),
  );
  assert.ok(button.y + button.height < 900 && stat.y < 900 && button.y < file.y, JSON.stringify([button, stat, file]));
  assert.equal(await page.locator(".file").count(), 6);
  await page.getByLabel("Changes of").selectOption("This step");
  await shows(page.locator(".file summary").getByText("src/f.txt"));
  assert.equal(await page.locator(".file").count(), 1);
});

test("on a phone the steps are folded behind the selected one, and every tab can be seen", async (t) => {
  const { page, shows, until } = await opened(t, gated(1, "r1"), RUN);
  const fold = page.locator("nav.steps summary");
  await shows(fold.getByText("Step 1 of 2: Part 1"));
  const step = page.locator("nav.steps .step").nth(1);
  assert.equal(await step.isVisible(), false);
  for (const tab of await page.getByRole("tab").all()) {
    const { x, width } = await tab.boundingBox();
    assert.ok(x >= 0 && x + width <= PHONE.width, await tab.innerText());
  }
  await fold.click();
  await step.click();
  await shows(fold.getByText("Step 2 of 2: Part 2"));
  await until(async () => !(await step.isVisible()));
});

test("an attempt is shown in the tab that is open, and after a decision with its change", async (t) => {
  const facts = gated(1, "r1", { actions: ["approve", "undo"] });
  facts.attempts = [attempt(1), attempt(2, { checkpoint: "1-2" })];
  const { page, shows } = await opened(t, facts, RUN);
  await page.setViewportSize({ width: 1440, height: 900 });
  const tab = (name) => page.getByRole("tab", { name, selected: true });
  const undo = page.getByRole("button", { name: "Undo to here" });
  const one = page.getByRole("button", { name: /Attempt 1/ });
  await shows(one);
  await one.click();
  await shows(tab("Diff"));
  await shows(page.getByText("Step 1, attempt 1"));
  assert.equal(await undo.count(), 0, "the run has no checkpoint of this attempt");
  await page.getByRole("tab", { name: "Checks" }).click();
  await page.getByRole("button", { name: /Attempt 2/ }).click();
  await shows(page.getByText("Step 1, attempt 2"));
  await shows(tab("Checks"));
  await shows(undo);
});

test("an action shows its code and emphasis, and everything else as it is written", async (t) => {
  const action = "Keep `a * b` and *both* **totals** of 2 * 3 * 4:\n- <b>one</b> [two](javascript:x)\n```sh\n**no**\n```\n";
  const facts = gated(1, "r1", { facts: { action, risk: "low", checks: [], earlier: [], changes: "", said: "" } });
  const { page, shows } = await opened(t, facts, RUN);
  await shows(page.locator("strong").getByText("totals"));
  const shown = await page.locator(".ask").evaluate((part) => [...part.querySelectorAll("code, em, strong, pre, b, a")].map((one) => `${one.localName} ${one.textContent.trim()}`));
  assert.deepEqual(shown.slice(0, 4), ["code a * b", "em both", "strong totals", "pre **no**"]);
  await shows(page.getByText("of 2 * 3 * 4:\n- <b>one</b> [two](javascript:x)"));
  assert.equal(await page.locator(".ask b, .ask a").count(), 0);
});

test("a blocked run says once why", async (t) => {
  const reason = "Still failing after 3 attempts";
  const facts = gated(1, "r1", { card: card({ state: "blocked", now: `step 1 is blocked: ${reason}` }), choice: undefined, actions: ["retry"] });
  facts.states = { ...STATES, blocked: { mark: "✗", words: "Blocked", needs_person: true, is_over: false } };
  Object.assign(facts.run.steps[0], { symbol: "✗", status: "Blocked", reason });
  facts.attempts = [attempt(1, { result: "failed", reason: "exit code 1", checks: [] })];
  const { page, shows } = await opened(t, facts, RUN);
  await shows(page.getByRole("button", { name: "Retry with this note" }));
  assert.equal((await page.locator("#app").textContent()).split(reason).length - 1, 1);
});

test("a log has the time of each group of lines, and is found and wrapped", async (t) => {
  const facts = gated(1, "r1");
  facts.attempts = [attempt(1)];
  facts.log = [{ at: minutes(-2.5), text: "→ Bash: cargo test" }, { text: "   ok" }, { at: minutes(-2), text: "All tests pass." }];
  const { page, shows } = await opened(t, facts, `${RUN}?tab=log&step=1`);
  await shows(page.getByText("All tests pass."));
  const lines = page.locator(".log .line");
  const times = await lines.evaluateAll((all) => all.map((line) => line.querySelector("time")?.dateTime ?? ""));
  assert.deepEqual(times, [minutes(-3), minutes(-2.5), "", minutes(-2), minutes(-1)]);
  await page.getByLabel("Find").fill("tests");
  await shows(page.getByText("1 of 1", { exact: true }));
  assert.equal(await page.locator(".log mark").innerText(), "tests");
});

test("a diff has colors for comments over several lines, texts, numbers and keywords of what was and what is", async (t) => {
  const facts = gated(1, "r1");
  facts.patch = [
    "diff --git a/src/a.ts b/src/a.ts", "--- a/src/a.ts", "+++ b/src/a.ts", "@@ -1,4 +1,4 @@",
    "-/* What was", "+const a = 'it\\'s' + 10; // now", "-   is gone */ return 1;", " return a;",
    "@@ -20 +20 @@", " const b = `x`;",
    "diff --git a/notes.txt b/notes.txt", "--- a/notes.txt", "+++ b/notes.txt", "@@ -1 +1 @@", "-const a", "+return 1",
    "diff --git a/b.py b/b.py", "--- a/b.py", "+++ b/b.py", "@@ -1 +1,3 @@", "+\"\"\"Says", "+it\"\"\" # b", "+x = a#b",
  ].join("\n");
  const { page, shows } = await opened(t, facts, RUN);
  await shows(page.getByText("3 files changed"));
  const colored = await page.locator(".lines .line code").evaluateAll((all) =>
    all.map((line) => [...line.querySelectorAll("span")].map((piece) => `${piece.className}:${piece.textContent}`).join(" ")).filter((words) => words !== ""),
  );
  assert.deepEqual(colored, [
    "comment:/* What was",
    "keyword:const string:'it\\'s' number:10 comment:// now",
    "comment:   is gone */ keyword:return number:1",
    "keyword:return",
    "keyword:const string:`x`",
    'string:"""Says',
    'string:it""" comment:# b',
  ]);
});

test("cost and runs by day are drawn; what did not happen is not", async (t) => {
  const day = (name, more) => ({ name, runs: 0, turns: 0, unknown: 0, tokens: 0, ...more });
  const facts = board([card()]);
  facts.days = [day("2026-11-23", { runs: 3, turns: 2, cost_usd: 1.5, tokens: 1000 }), day("2026-11-01", { runs: 1 }), day("2026-01-01", { runs: 9 })];
  const { page, change, shows } = await opened(t, facts);
  await shows(page.getByRole("img", { name: "Runs by day: 4 runs from 2026-10-25 to 2026-11-23, at most 3 runs on a day" }));
  await shows(page.getByRole("img", { name: "Cost by day: $1.50" }));
  assert.deepEqual(await page.locator(".chart rect title").evaluateAll((all) => all.map((title) => title.textContent)), [
    "2026-11-23: $1.50", "2026-11-01: 1 run", "2026-11-23: 3 runs",
  ]);
  await change({ ...facts, days: [day("2026-11-23", { runs: 1, turns: 2, unknown: 2 })] });
  assert.equal(await page.locator("#cost summary").innerText(), "Today: cost unknown · by day and by agent");
  await change({ ...facts, days: [day("2026-11-22", { runs: 1, turns: 2, unknown: 2 })] });
  assert.match(await page.locator("#cost summary").innerText(), /^Today: no agent turns/);
  await change({ ...facts, days: [day("2026-11-23", { runs: 1 })] });
  assert.deepEqual(await page.locator(".chart figcaption").allInnerTexts(), ["Runs by day 1 run in 30 days"]);
  assert.match(await page.locator("#cost summary").innerText(), /no agent turns/);
});

test("a run of rw-auto is listed, and a killed one waits", async (t) => {
  const auto = (id, state, now) => ({ id, state, now, folder: "/w", since: NOW, stop: `onloop stop ${id}` });
  const autos = [auto("rw-1", "interrupted", `its process is gone ${HOSTILE}`), auto("rw-2", "running", "rw-loop in cycle 2")];
  const { page } = await opened(t, board([], [], autos));
  assert.equal(await page.locator("h1").textContent(), "1 thing waits for you");
  const waiting = page.locator(".inbox > li");
  assert.equal(await waiting.count(), 1);
  assert.match(await waiting.textContent(), /Interrupted rw-auto: its process is gone <img .* · rw-1 .* in \/w · onloop stop rw-1$/u);
  assert.match(await page.locator(".sessions > li").nth(1).textContent(), /Running rw-auto: rw-loop in cycle 2 · rw-2/u);
  assert.equal(await page.title(), "onloop");
});
