// Machines with runs, and a Chromium that is signed in to their page.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before } from "node:test";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { serve } from "./web.mjs";
import * as workspace from "./workspace.mjs";
import { folder, npmFolder } from "./workspace.mjs";

export const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];
const BROWSER = process.env.ONLOOP_TEST_BROWSER ?? "chromium";
export const PHONE = { width: 360, height: 740 };
export const HOSTILE = "Write <img src=x onerror=\"document.title='owned'\"> it";

export const run = promisify(execFile);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A workflow file of so many steps, with a gate at one of them. */
export function plan(steps, gate, risk = "medium") {
  const step = (number) =>
    `- [ ] **Step ${number}: ${number === 1 ? HOSTILE : `Change part ${number}`}**\naction: change **it**\nloop: false\n` +
    `verify: test -d .\n${number === gate ? "gate: human\n" : ""}\n`;
  const numbers = Array.from({ length: steps }, (_, index) => index + 1);
  return `---\nintent: ${risk} plan of ${steps} steps\nsuccess_criteria: done\nrisk_level: ${risk}\n---\n\n## Steps\n\n${numbers.map(step).join("")}`;
}

/** A machine with these runs, each at its gate. */
export async function machine(t, plans) {
  const top = folder(t);
  const cwd = join(top, "project");
  mkdirSync(cwd);
  const { ONLOOP_NOW: _, ...env } = workspace.environment(top, { USER: "ann" });
  const files = plans.map((plan, index) => [`hotl-workflow-w${index}.md`, plan]);
  workspace.write(cwd, Object.fromEntries(files));
  workspace.commitAll(cwd, env);
  const [program, ...first] = PACKAGE;
  const act = "printf '%s\\n' one '<b>two</b>' three";
  const begin = async ([file]) => {
    const words = [...first, "run", file, "--agent-command", act, "--mode", "none"];
    const failed = await run(program, words, { cwd, env }).then(() => "nothing", (error) => error);
    assert.equal(failed.code, 3, `${failed.stdout}${failed.stderr}`);
  };
  const waiting = [...files];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await begin(next);
  };
  await Promise.all([worker(), worker(), worker()]);
  const runs = join(env.ONLOOP_STATE_HOME, "runs");
  const ledger = (id) => readFileSync(join(runs, id, "ledger.jsonl"), "utf8");
  return { cwd, env, ids: readdirSync(runs), ledger };
}

export let browser;
before(async () => {
  const executablePath = BROWSER.includes("/") ? BROWSER : (await run("which", [BROWSER])).stdout.trim();
  // Chromium refuses to start its sandbox as root, as in many containers.
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser?.close());

/** A page that is signed in, and its errors. */
export async function signedIn(t, { cwd, env }, options = {}) {
  const served = await serve(t, PACKAGE, options.words ?? [], { cwd, env });
  const context = await browser.newContext({ viewport: PHONE, ...options.context });
  t.after(() => context.close());
  const page = await context.newPage();
  const wrong = [];
  const foreign = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("request", (request) => new URL(request.url()).host === served.host || foreign.push(request.url()));
  await page.goto(served.links[0]);
  // The browser focuses the button when it first paints, which may come after `load`; a key before that is lost.
  await page.locator("button:focus").press("Enter");
  await page.waitForURL(/\/[0-9a-f]{32}\/$/);
  return { served, page, root: page.url(), wrong, foreign };
}

/** What axe finds, on the page as it is and with everything unfolded. */
export async function accessible(page) {
  const found = [];
  for (const open of [false, true]) {
    await page.evaluate((open) => document.querySelectorAll("details").forEach((d) => (d.open = open)), open);
    // The policy of the page lets no other script in; this one comes through the debugger.
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => globalThis.axe.run({ rules: { "target-size": { enabled: true } } }));
    found.push(...violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`));
  }
  return found;
}
