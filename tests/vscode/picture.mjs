// Makes the picture in docs/vscode.md again: `node picture.mjs PATH`, with what `cargo xtask vscode` sets.

import { server, suite, workspace } from "./editor.mjs";

const host = await server({
  "security.workspace.trust.enabled": false,
  "editor.minimap.enabled": false,
  "breadcrumbs.enabled": false,
  "files.exclude": { "result.*": true, "**/*-again.md": true, "**/*-wait.md": true },
});
try {
  const folder = workspace(host.home, "gated", "greet");
  const { failed } = await suite(host, {
    kind: "node",
    name: "picture",
    folder,
    async meanwhile(page) {
      await page.locator(".monaco-list-row", { hasText: "Waiting for you" }).click();
      await page.locator(".monaco-list-row", { hasText: "2. Read it" }).waitFor();
      await page.locator(".codelens-decoration", { hasText: "Approve…" }).waitFor();
      await page.mouse.move(900, 540);
      await page.screenshot({ path: process.argv[2] });
    },
  });
  if (failed.length > 0) throw new Error(failed[0].join("\n"));
} finally {
  await host.close();
}
