// Takes a picture of every view: `node pictures.mjs FOLDER [THEME]`, with what
// `cargo xtask vscode` sets.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { server, suite, workspace } from "./editor.mjs";

const [, , folder, theme = "Default Dark Modern"] = process.argv;
mkdirSync(folder, { recursive: true });
const host = await server({
  "security.workspace.trust.enabled": false,
  "workbench.colorTheme": theme,
  "editor.minimap.enabled": false,
  "files.exclude": { "result.*": true },
});
const take = (page, name) => page.screenshot({ path: join(folder, `${name}.png`) });
const row = (page, text) => page.locator(".monaco-list-row", { hasText: text }).first();
const shown = (page) => page.frameLocator("iframe.webview.ready:visible").frameLocator("iframe");
/** The suite shows a scene after a click on its name in the status bar. */
const scenes = {
  async tree(page) {
    await row(page, "2. Read it").waitFor();
    await row(page, "greet").hover();
  },
  async gate(page) {
    await page.locator(".monaco-dialog-box").waitFor();
  },
  run: (page) => shown(page).getByRole("button", { name: "Approve step 2" }).waitFor(),
  dashboard: (page) => shown(page).getByRole("link", { name: "Greet whoever comes" }).first().waitFor(),
  changes: (page) => page.locator(".multiDiffEntry").first().waitFor(),
  colours: (page) => page.locator(".view-line", { hasText: "cargo" }).first().waitFor(),
  async tests(page) {
    await row(page, "greet").click();
    await page.keyboard.press("ArrowRight");
    await row(page, "1. Write it").click();
    await page.keyboard.press("ArrowRight");
    await row(page, "command grep").waitFor();
  },
  finish: (page) => page.locator(".quick-input-widget .monaco-list-row").first().waitFor(),
  welcome: (page) => page.getByText("Let agents work").first().waitFor(),
  output: (page) => page.locator(".view-line", { hasText: "onloop" }).first().waitFor(),
};
try {
  const { failed } = await suite(host, {
    kind: "node",
    name: "pictures",
    folder: workspace(host.home, "steered", "steered"),
    async meanwhile(page) {
      for (const [name, ready] of Object.entries(scenes)) {
        await page.locator(".statusbar-item", { hasText: `scene: ${name}` }).waitFor();
        await ready(page);
        await page.evaluate(() => document.fonts.ready);
        await take(page, name);
        await page.keyboard.press("Escape");
        await page.locator(".statusbar-item", { hasText: `scene: ${name}` }).click();
      }
    },
  });
  if (failed.length > 0) throw new Error(failed[0].join("\n"));
} finally {
  await host.close();
}
