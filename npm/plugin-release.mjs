// `node plugin-release.mjs FOLDER`: writes the published repository of the plugin into FOLDER.
// Claude Code and Codex install a plugin from git, so the repository contains
// the compiled core and its launcher for Node.

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));
const dist = join(root, "dist");
const [folder] = argv.slice(2);
if (folder === undefined || !existsSync(join(dist, "onloop.wasm"))) {
  console.error("usage: node plugin-release.mjs FOLDER, after the package is built");
  exit(2);
}

const out = resolve(folder);
const runtime = join(out, "npm/plugin/runtime");
const copy = (from, to) => {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true });
};
for (const name of [".claude-plugin", ".agents", "npm/plugin"]) copy(join(root, "..", name), join(out, name));
for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) copy(join(root, "..", name), join(out, name));
copy(join(root, "THIRD-PARTY-NOTICES.txt"), join(out, "THIRD-PARTY-NOTICES.txt"));
copy(join(root, "plugin/README.md"), join(out, "README.md"));

for (const name of ["launch.js", "cli.js", "onloop.wasm"]) copy(join(dist, name), join(runtime, "dist", name));
copy(join(root, "bin/onloop.mjs"), join(runtime, "bin/onloop.mjs"));
const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const manifest = { name: "onloop-plugin-runtime", version, license, private: true, type: "module" };
writeFileSync(join(runtime, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
