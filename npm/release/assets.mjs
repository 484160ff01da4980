// `node assets.mjs FOLDER PLATFORM=BINARY...`: writes the files of a release into FOLDER: an archive with the program
// of each platform, and a bill of materials for each.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { layOut, readPrograms, TARGETS } from "./platforms.mjs";
import { sbom } from "./sbom.mjs";

const WASM_TARGET = "wasm32-unknown-unknown";
// Archives are reproducible: no user name, and one time for all files.
const SAME = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--use-compress-program=gzip -9n"];
const root = fileURLToPath(new URL("..", import.meta.url));
const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const [folder, ...words] = argv.slice(2);
const out = resolve(folder);
const list = (name, target, roots) =>
  writeFileSync(join(out, `onloop-${version}-${name}.cdx.json`), sbom({ name: `onloop-${version}-${name}`, version, license, target, roots }));

mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "onloop-assets-"));
try {
  for (const program of readPrograms(words)) {
    const name = `onloop-${version}-${program.platform}`;
    layOut(program, join(work, name), ".");
    execFileSync("tar", [...SAME, "-cf", join(out, `${name}.tar.gz`), "-C", work, name]);
    list(program.platform, TARGETS[program.platform], ["onloop"]);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
list("npm", WASM_TARGET, ["onloop-wasm", "onloop-wasm-programs"]);
