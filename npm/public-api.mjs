// `node public-api.mjs [--write]`: compares the published types, without comments, with
// the files in `public-api`, or writes those. The declarations come from the built package.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL(".", import.meta.url));
const types = join(root, "dist/types/esm");
const folder = join(root, "public-api");
const ENTRIES = ["index", "inline", "pure", "slim"];
/** Generated files are compared with their source elsewhere. */
const GENERATED = "Generated from `core/effect/src`";

/** The files as one text. */
const joined = (files) => files.map(([name, text]) => `// ${name}\n${text}`).join("\n");

/** The declarations of all entry points. */
export const listing = () => joined(offered());

/** The declarations in `public-api`. */
export function written() {
  const names = readdirSync(folder).sort();
  return joined(names.map((name) => [name, readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n")]));
}

/** The files of declarations, sorted by name. */
function offered() {
  const files = [];
  for (const path of reached(ENTRIES.map((entry) => join(types, `${entry}.d.ts`)))) {
    const written = readFileSync(path, "utf8");
    if (written.includes(GENERATED)) continue;
    const source = ts.createSourceFile(path, written, ts.ScriptTarget.ES2022);
    const text = ts.createPrinter({ removeComments: true }).printFile(source);
    // All files are in one folder.
    files.push([relative(types, path).replaceAll(/[\\/]/g, "-"), `${text.trim()}\n`]);
  }
  return files.sort(([a], [b]) => (a < b ? -1 : 1));
}

function reached(entries) {
  const seen = new Set();
  const next = [...entries];
  while (next.length > 0) {
    const path = next.pop();
    if (seen.has(path)) continue;
    seen.add(path);
    for (const { fileName } of ts.preProcessFile(readFileSync(path, "utf8")).importedFiles) {
      const found = join(dirname(path), fileName.replace(/\.js$/, ".d.ts"));
      if (fileName.startsWith(".") && existsSync(found)) next.push(found);
    }
  }
  return [...seen].sort();
}

/** Lines of `a` that `b` lacks. */
const missing = (a, b) => {
  const there = new Set(b.split("\n"));
  return a.split("\n").filter((line) => !there.has(line));
};

/** The message about a difference; `undefined` without one. */
export function difference(written, present) {
  if (written === present) return [];
  const gone = missing(written, present).map((line) => `- ${line}`);
  const lines = [...gone, ...missing(present, written).map((line) => `+ ${line}`)];
  return lines.length > 0 ? lines : ["the same lines in another order"];
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  if (argv[2] === "--write") {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    for (const [name, text] of offered()) writeFileSync(join(folder, name), text);
    exit(0);
  }
  const lines = difference(written(), listing());
  if (lines.length > 0) {
    console.error(`the package offers something else than npm/public-api says; if that is meant, write it
down with \`node npm/public-api.mjs --write\`:
${lines.join("\n")}`);
    exit(1);
  }
}
