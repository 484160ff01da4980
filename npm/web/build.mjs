// Bundles the page of `onloop web` into the core, which embeds it for both hosts. With `--check` it compares
// what it makes with what is there, and writes nothing.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const packages = join(here, "../node_modules");
const to = join(here, "../../core/documents/src/page/web");
/** Most bytes of script and style together, compressed. */
const MOST_BYTES = 150 * 1024;

execFileSync(process.execPath, [join(packages, "typescript/bin/tsc"), "-p", here], { stdio: "inherit" });
const licence = readFileSync(join(packages, "preact/LICENSE"), "utf8").trim();
const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: ["src/app.tsx", "src/app.css"],
  outdir: "out",
  bundle: true,
  write: false,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  banner: { js: `/*! This file contains Preact.\n${licence}\n*/` },
  logLevel: "warning",
});

let compressed = 0;
for (const { path, contents } of outputFiles) {
  const file = join(to, path.split(/[/\\]/).at(-1));
  compressed += gzipSync(contents, { level: 9 }).length;
  if (!process.argv.includes("--check")) {
    writeFileSync(file, contents);
  } else if (!readFileSync(file).equals(Buffer.from(contents))) {
    throw new Error(`${file} is not what the sources in npm/web make; run: npm run web`);
  }
}
if (compressed > MOST_BYTES) throw new Error(`the page has ${compressed} bytes, compressed; ${MOST_BYTES} are allowed`);
console.log(`the page has ${compressed} bytes, compressed`);
