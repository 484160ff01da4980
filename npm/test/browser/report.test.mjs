// A report opened from a file in a real Chromium: the page of one run, without a server and without decisions.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { accessible, browser, HOSTILE, machine, PACKAGE, PHONE, plan, run } from "../support/pages.mjs";

const TABS = ["Log", "Diff", "Checks", "Prompt", "Events", "Summary"];

/** The report of a run at its gate, and what goes wrong in it. */
async function opened(t, context = {}) {
  const { cwd, env, ids } = await machine(t, [plan(2, 1)]);
  const [program, ...first] = PACKAGE;
  const file = join(cwd, "report.html");
  await run(program, [...first, "report", ids[0], "--html", "--out", file], { cwd, env });
  const made = await browser.newContext({ viewport: PHONE, offline: true, ...context });
  t.after(() => made.close());
  const page = await made.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("request", (request) => request.url().startsWith("file:") || request.url().startsWith("blob:") || wrong.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  await page.getByText("This page proves nothing by itself.").waitFor();
  return { page, wrong, id: ids[0], file };
}

test("a report shows what the page shows, and offers nothing that only a server can do", async (t) => {
  const { page, wrong, id } = await opened(t);
  assert.deepEqual(await page.getByRole("tab").allInnerTexts(), TABS);
  assert.equal(await page.title(), "medium plan of 2 steps – onloop");
  await page.getByText("done", { exact: true }).waitFor();
  await page.getByText(`onloop receipt ${id} --format intoto`).waitFor();
  for (const name of ["Approve step 1", "Sign out", "Stop", "Resume"]) {
    assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  }
  assert.equal(await page.getByRole("link").count(), 0);
  assert.equal(await page.locator("#live").count(), 0);
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByText("<b>two</b>").waitFor();
  await page.getByRole("tab", { name: "Checks" }).click();
  await page.getByText("command test -d .").waitFor();
  await page.getByRole("tab", { name: "Prompt" }).click();
  await page.locator("pre").getByText("change **it**").waitFor();
  await page.getByRole("tab", { name: "Diff" }).click();
  await page.getByText(/No file changed|file changed|cannot be shown/).waitFor();
  await page.getByRole("tab", { name: "Events" }).click();
  await page.locator(".timeline .wait").filter({ hasText: "waited" }).first().waitFor();
  assert.ok((await page.locator("#app").innerText()).includes(HOSTILE));
  assert.equal(await page.locator("img").count(), 0);
  assert.deepEqual(wrong, []);
});

test("a report is used by keyboard, and leads nowhere else", async (t) => {
  const { page, wrong } = await opened(t, { viewport: { width: 1200, height: 900 } });
  const selected = (name) => page.getByRole("tab", { name, selected: true }).waitFor();
  await page.keyboard.press("2");
  await selected("Diff");
  await page.keyboard.press("j");
  await page.getByText("This step has not begun.").waitFor();
  for (const key of ["u", "a", "r"]) await page.keyboard.press(key);
  await page.keyboard.press("6");
  await selected("Summary");
  await page.getByRole("tab", { name: "Summary" }).focus();
  await page.keyboard.press("ArrowLeft");
  await selected("Events");
  await page.keyboard.press("?");
  await page.getByText("The tabs of a run").waitFor();
  assert.equal(await page.getByText("Back to all runs").count(), 0);
  await page.getByRole("button", { name: "Close" }).click();
  assert.equal(await page.getByRole("dialog").count(), 0);
  for (const key of ["k", "1"]) await page.keyboard.press(key);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  await downloading;
  assert.deepEqual(wrong, []);
});

for (const colorScheme of ["light", "dark"]) {
  test(`${colorScheme}: every tab of a report can be read, also by a screen reader`, async (t) => {
    const { page, wrong } = await opened(t, { colorScheme });
    for (const tab of TABS) {
      await page.getByRole("tab", { name: tab }).click();
      assert.deepEqual(await accessible(page), [], tab);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= PHONE.width, `${tab} is ${width} pixels wide`);
    }
    assert.deepEqual(wrong, []);
  });
}

test("a report also works where a page may keep nothing, as in a frame of another page", async (t) => {
  const { page: report, file } = await opened(t);
  const page = await report.context().newPage();
  await page.setContent("<!doctype html><iframe sandbox=allow-scripts width=340 height=700></iframe>");
  await page.locator("iframe").evaluate((frame, html) => (frame.srcdoc = html), readFileSync(file, "utf8"));
  await page.frameLocator("iframe").getByText("This page proves nothing by itself.").waitFor();
});
