// The packaged extension in real extension hosts: with Node, and in a web worker.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isLong } from "../../npm/test/support/all.mjs";
import { server, suite, workspace } from "./editor.mjs";

const TRUSTED = { "security.workspace.trust.enabled": false };
const ONLY_WITH_ALL = { skip: isLong ? false : "only with --all" };
const started = [];
after(() => Promise.all(started.map((server) => server.close())));

async function begin(settings) {
  const begun = await server(settings);
  started.push(begun);
  return begun;
}

/** Opens a window for one suite and reports its tests. */
async function play(context, host, { kind = "node", name, files, meanwhile, folder = workspace(host.home, files, name) }) {
  const { passed, failed } = await suite(host, { kind, name, folder, meanwhile });
  assert.ok(passed.length + failed.length > 0, "the suite has no tests");
  for (const done of passed) await context.test(done, () => undefined);
  for (const [missed, why] of failed) await context.test(missed, () => assert.fail(why));
}

const button = (page, name) => page.locator(".monaco-dialog-box").getByRole("button", { name, exact: true });

/** The page in the webview that is in front. */
const shown = (page) => page.frameLocator("iframe.webview.ready:visible").frameLocator("iframe");

/** Types the first letter of a field, and accepts two proposals: the field and its first value. */
async function accept(page) {
  await page.locator(".statusbar-item", { hasText: "type a letter" }).waitFor();
  await page.keyboard.type("g");
  const offered = (text) => page.locator(".suggest-widget.visible .monaco-list-row.focused", { hasText: text });
  for (const text of ["gate", "human"]) {
    await offered(text).waitFor();
    await page.keyboard.press("Enter");
  }
}

test("a host with Node", async (context) => {
  const host = await begin(TRUSTED);
  await context.test("reads workflows", (context) => play(context, host, { name: "node", files: "plain", meanwhile: accept }));
  await context.test("runs workflows", (context) =>
    play(context, host, {
      name: "runs",
      files: "gated",
      async meanwhile(page) {
        // The lenses change with the record.
        await page.locator(".codelens-decoration", { hasText: "Approve…" }).waitFor();
        // The state of the run opens its page.
        await page.locator(".codelens-decoration a", { hasText: "Waiting for you at step 2" }).click();
        const run = shown(page);
        await run.getByRole("heading", { name: "Greet whoever comes" }).waitFor();
        await run.getByRole("heading", { name: "Step 2 of 2: Read it" }).waitFor();
        await run.getByRole("button", { name: "Approve step 2" }).click();
        await run.getByText("Completed").first().waitFor();
        await shown(page).getByRole("link", { name: "Greet whoever comes" }).click();
        await button(page, "Approve and Resume").click();
        const toast = page.locator(".notification-toast").filter({ hasText: "Step 1: Write it" });
        await toast.getByRole("button", { name: "Cancel" }).click();
      },
    }),
  );
  await context.test("steers runs", ONLY_WITH_ALL, async (context) => {
    const folder = workspace(host.home, "steered", "steered");
    await play(context, host, { name: "wait", folder });
    await play(context, host, {
      name: "fresh",
      folder,
      async meanwhile(page) {
        await page.locator(".statusbar-item.warning-kind", { hasText: "onloop: 1" }).waitFor();
        await page.locator(".activitybar .action-item .badge", { hasText: "1" }).first().waitFor();
      },
    });
    await play(context, host, {
      name: "steer",
      folder,
      async meanwhile(page) {
        const input = page.locator(".quick-input-widget");
        await input.getByText("Retry step 1 of blocked").waitFor();
        await input.locator("input").fill("a person said yes");
        await page.keyboard.press("Enter");
        await input.getByText("What to do with the work of blocked").waitFor();
        await input.locator(".monaco-list-row", { hasText: "Merge" }).click();
      },
    });
  });
  await context.test("plans and loops", (context) => play(context, host, { name: "auto", files: "auto" }));
  await context.test("plans and loops in chat", ONLY_WITH_ALL, (context) =>
    play(context, host, {
      name: "chat",
      files: "auto",
      meanwhile: (page) => page.getByText("NEXT_COMMAND=done").last().waitFor(),
    }),
  );
});

test("a web worker", async (context) => {
  const host = await begin({ ...TRUSTED, "remote.extensionKind": { "onloop.onloop": ["web"] } });
  await play(context, host, {
    kind: "web",
    name: "web",
    files: "plain",
    async meanwhile(page) {
      await page.getByText("onloop: checks only").waitFor();
      await accept(page);
    },
  });
});

test("an untrusted folder", async (context) => {
  const host = await begin({ "security.workspace.trust.startupPrompt": "never" });
  await play(context, host, { name: "untrusted", files: "plain", meanwhile: accept });
});
