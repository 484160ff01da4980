// Makes `dist/`: one bundle for hosts with Node, one for web workers, and the module that both use.

import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL(".", import.meta.url));
rmSync(join(root, "dist"), { recursive: true, force: true });

const bundle = (name, platform, options = {}) =>
  build({
    absWorkingDir: root,
    entryPoints: [`src/${name}.ts`],
    outfile: `dist/${name}.js`,
    bundle: true,
    minify: true,
    format: "cjs",
    platform,
    external: ["vscode"],
    target: "es2022",
    logLevel: "warning",
    ...options,
  });

await Promise.all([
  // Nothing here asks the package for its own place: the module comes from the extension's folder.
  bundle("node", "node", { logOverride: { "empty-import-meta": "silent" } }),
  bundle("web", "browser"),
]);
copyFileSync(join(root, "..", "dist", "onloop.wasm"), join(root, "dist", "onloop.wasm"));
// These are packed from the extension's own folder only.
for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) {
  copyFileSync(join(root, "..", "..", name), join(root, name));
}
copyFileSync(join(root, "..", "THIRD-PARTY-NOTICES.txt"), join(root, "THIRD-PARTY-NOTICES.txt"));
