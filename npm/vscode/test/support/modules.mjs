// The extension's plain modules, compiled for the tests as they are for the extension.

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The exports of `src/<name>.ts`. None of these modules may know the editor. */
export async function load(name) {
  const folder = mkdtempSync(join(root, "node_modules", ".onloop-test-"));
  const outfile = join(folder, `${name}.mjs`);
  try {
    await build({
      entryPoints: [join(root, "src", `${name}.ts`)],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      // Resolved at run time, as one instance for all tests.
      external: ["onloop"],
      target: "es2022",
      logLevel: "warning",
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
