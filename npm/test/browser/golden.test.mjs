// Pages of `onloop web` and the report as they are meant to look. What is compared is the picture that
// Chromium makes with fonts of its own; `ONLOOP_WRITE_PICTURES=1` writes new ones, to be looked at.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { test } from "node:test";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { browser, PACKAGE, PHONE, run, signedIn } from "../support/pages.mjs";
import * as workspace from "../support/workspace.mjs";

const GOLDEN = fileURLToPath(new URL("golden/", import.meta.url));
const WRITES = process.env.ONLOOP_WRITE_PICTURES === "1";
const WIDE = { width: 1200, height: 900 };
/** Releases of Chromium round corners and smooth letters a little differently. */
const SHARE_THAT_MAY_DIFFER = 0.01;

const PLAN = `---
intent: Round prices to whole cents
success_criteria: every total is the sum of its rounded parts
risk_level: high
---

## Steps

- [ ] **Step 1: Round each line**
action: Round the price of each line before it is added. Keep \`total\` as it is.
loop: until lines are rounded
max_iterations: 3
verify: grep -q round src/lines.txt

- [ ] **Step 2: Change the total**
action: |
  Add the rounded lines:
  1. no rounding **at the end**
  2. a test for each currency
loop: false
verify: "true"
gate: human

- [ ] **Step 3: Tell the users**
action: Write the change into the log of changes.
loop: false
verify: "true"
`;

/** Minutes after the run began. */
const at = (minutes) => new Date(Date.UTC(2026, 2, 20, 9, minutes)).toISOString();

/** A run at its gate, an hour and a half after it began: one step took two attempts. */
async function waiting(t) {
  const top = workspace.folder(t);
  const cwd = join(top, "project");
  mkdirSync(cwd);
  const env = workspace.environment(top, { USER: "ann" });
  workspace.write(cwd, { "hotl-workflow-prices.md": PLAN, "src/lines.txt": "price * count\n", "src/total.txt": "sum\n" });
  workspace.commitAll(cwd, env);
  const [program, ...first] = PACKAGE;
  const onloop = async (minutes, ...words) => {
    const options = { cwd, env: { ...env, ONLOOP_NOW: at(minutes) } };
    return run(program, [...first, ...words], options).catch((error) => error);
  };
  const id = (await onloop(0, "init", "hotl-workflow-prices.md")).stdout.trim();
  const step = (minutes, number, verb) => onloop(minutes, "step", String(number), verb, "--run-id", id);
  await step(1, 1, "start");
  assert.equal((await step(13, 1, "verify")).code, 1);
  await step(14, 1, "start");
  workspace.write(cwd, { "src/lines.txt": "round(price * count)\n" });
  await step(31, 1, "verify");
  await step(33, 2, "start");
  workspace.write(cwd, { "src/total.txt": "sum(lines)\n", "test/euro <b>.txt": "1.005 -> 1.01\n" });
  await step(58, 2, "verify");
  return { top, cwd, env: { ...env, ONLOOP_NOW: at(90) }, id, onloop };
}

/** Fonts of our own: those of a machine are its own business. */
const FONTS = (() => {
  const require = createRequire(import.meta.url);
  const face = (family, weight) => {
    const font = readFileSync(require.resolve(`@fontsource/${family}/files/${family}-latin-${weight}-normal.woff2`));
    return `@font-face { font-family: "${family}"; font-weight: ${weight}; src: url(data:font/woff2;base64,${font.toString("base64")}); }`;
  };
  return `${face("dejavu-sans", 400)} ${face("dejavu-sans", 700)} ${face("dejavu-mono", 400)}
    * { font-family: "dejavu-sans" !important; caret-color: transparent !important; }
    code, code *, pre, pre *, kbd, samp, textarea { font-family: "dejavu-mono" !important; }`;
})();

/** The page as a picture, with what is another folder on each machine replaced. */
async function picture(page, top) {
  await page.addStyleTag({ content: FONTS });
  await page.evaluate((top) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(top, "/home/ann");
    document.activeElement?.blur();
  }, top);
  await page.evaluate(() => document.fonts.ready);
  return PNG.sync.read(await page.screenshot({ fullPage: true, animations: "disabled" }));
}

/** Compares a picture with the one that is kept; one that differs is written beside it, for a look. */
function looksAs(name, found) {
  const file = join(GOLDEN, `${name}.png`);
  if (WRITES) {
    mkdirSync(GOLDEN, { recursive: true });
    writeFileSync(file, PNG.sync.write(found));
    return;
  }
  const kept = PNG.sync.read(readFileSync(file));
  const beside = join(workspace.npmFolder, "build", `${name}.differs.png`);
  const differs = (why, shown) => {
    writeFileSync(beside, PNG.sync.write(shown));
    return `${name} ${why}; look at ${beside}`;
  };
  if (kept.width !== found.width || kept.height !== found.height) {
    const size = ({ width, height }) => `${width}x${height}`;
    assert.fail(differs(`is ${size(found)}, and was ${size(kept)}`, found));
  }
  const shown = new PNG({ width: kept.width, height: kept.height });
  const count = pixelmatch(kept.data, found.data, shown.data, kept.width, kept.height, { threshold: 0.15 });
  const share = count / (kept.width * kept.height);
  assert.ok(share <= SHARE_THAT_MAY_DIFFER, share > SHARE_THAT_MAY_DIFFER && differs(`differs in ${count} points`, shown));
}

test("pages look as they are meant to", async (t) => {
  const made = await waiting(t);
  const looks = [
    ["board-phone", PHONE, "light", ""],
    ["run-phone-dark", PHONE, "dark", `run/${made.id}`],
    ["run-wide", WIDE, "light", `run/${made.id}`],
    ["diff-wide-dark", WIDE, "dark", `run/${made.id}?tab=diff&of=run`],
    ["list-wide", WIDE, "light", ""],
  ];
  for (const [name, viewport, colorScheme, path] of looks) {
    // The policy of the page lets no fonts of others in.
    const context = { viewport, colorScheme, bypassCSP: true, timezoneId: "UTC" };
    const { page, root, served } = await signedIn(t, made, { context });
    await page.goto(root + path);
    await page.locator("#live").getByText("Live").waitFor();
    await page.getByText(path === "" ? "things wait for you" : "files changed").or(page.getByText("1 thing waits for you")).first().waitFor();
    looksAs(name, await picture(page, made.top));
    await served.stop();
  }
});

test("the report looks as it is meant to, on screens and on paper", async (t) => {
  const made = await waiting(t);
  const report = join(made.top, "report.html");
  const { stdout } = await made.onloop(90, "report", made.id, "--html");
  writeFileSync(report, stdout);
  const looks = [
    ["report-wide", WIDE, "light", "screen", "Summary"],
    ["report-wide-dark", WIDE, "dark", "screen", "Diff"],
    ["report-phone", PHONE, "light", "screen", "Events"],
    ["report-paper", { width: 794, height: 1123 }, "light", "print", "Summary"],
  ];
  for (const [name, viewport, colorScheme, media, tab] of looks) {
    const context = await browser.newContext({ viewport, colorScheme, bypassCSP: true, timezoneId: "UTC" });
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(pathToFileURL(report).href);
    await page.getByRole("tab", { name: tab }).click();
    await page.getByText({ Summary: "This page proves nothing", Diff: /files? changed/, Events: "Retrying" }[tab]).first().waitFor();
    await page.emulateMedia({ media });
    looksAs(name, await picture(page, made.top));
  }
});
