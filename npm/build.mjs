// Makes `dist/` from `src/` and from `build/`, the compiled modules with their bindings.

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { notices } from "./notices.mjs";

const root = fileURLToPath(new URL(".", import.meta.url));
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const bundle = (format, platform, entries, options = {}) =>
  build({
    absWorkingDir: root,
    entryPoints: entries.map((entry) => `src/${entry}.ts`),
    outdir: "dist",
    bundle: true,
    format,
    platform,
    outExtension: { ".js": format === "cjs" ? ".cjs" : ".js" },
    target: "es2022",
    logLevel: "warning",
    ...options,
  });

// CommonJS has another name for the path of a file.
const place = {
  define: { "import.meta.url": "placeOfThisFile" },
  banner: { js: 'const placeOfThisFile = require("node:url").pathToFileURL(__filename).href;' },
};

// The modules as text for both formats: a script without exports is valid in both.
const MODULES = ["onloop", "onloop-pure"];
const embedded = join(dist, "embedded");
mkdirSync(embedded, { recursive: true });
writeFileSync(join(embedded, "package.json"), '{ "type": "commonjs", "sideEffects": true }\n');
for (const name of MODULES) {
  const bytes = readFileSync(join(root, "build", `${name}_bg.wasm`));
  const symbol = `Symbol.for(${JSON.stringify(`onloop/${name}.wasm ${version}`)})`;
  writeFileSync(join(embedded, `${name}.js`), `globalThis[${symbol}] = "${bytes.toString("base64")}";\n`);
}
const withModule = (entry, name) => [
  ["esm", `import "./embedded/${name}.js";`],
  ["cjs", `require("./embedded/${name}.js");`],
].map(([format, js]) => bundle(format, "neutral", [entry], { define: { VERSION: JSON.stringify(version) }, banner: { js } }));

await Promise.all([
  bundle("esm", "node", ["index"]),
  // Two files, so that the launcher of the native program does not read the rest.
  bundle("esm", "node", ["launch"], {
    external: ["./cli.js"],
    define: { VERSION: JSON.stringify(version) },
  }),
  bundle("esm", "node", ["cli"]),
  bundle("cjs", "node", ["index"], place),
  ...withModule("inline", "onloop"),
  ...withModule("pure", "onloop-pure"),
  bundle("esm", "neutral", ["slim"]),
  bundle("cjs", "neutral", ["slim"]),
]);
for (const name of MODULES) {
  copyFileSync(join(root, "build", `${name}_bg.wasm`), join(dist, `${name}.wasm`));
}

// The types are the same for `import` and `require`; which of the two a declaration is for,
// the nearest package.json says.
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const words = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly"];
const esm = join(dist, "types", "esm");
const cjs = join(dist, "types", "cjs");
execFileSync(process.execPath, [compiler, "-p", root, ...words, "--outDir", esm], {
  stdio: "inherit",
});
// The bundler or runtime decides how a module is loaded.
writeFileSync(
  join(esm, "wasm.d.ts"),
  `import type { ModuleSource } from "./instance.js";\ndeclare const module: ModuleSource;\nexport default module;\n`,
);
cpSync(esm, cjs, { recursive: true });
writeFileSync(join(cjs, "package.json"), '{ "type": "commonjs" }\n');

// npm packs only files of the package's folder.
for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) {
  copyFileSync(join(root, "..", name), join(root, name));
}
const modules = ["onloop-wasm", "onloop-wasm-programs"];
writeFileSync(join(root, "THIRD-PARTY-NOTICES.txt"), notices("wasm32-unknown-unknown", modules));
