// `node assets.mjs FOLDER PLATFORM=BINARY... [FILE...]`: makes what is attached to a release, in FOLDER: an archive with the
// program of each platform, a list of what is linked into each, the files that are named, and SHA256SUMS over all of them.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { notices } from "../notices.mjs";
import { programName, readPrograms, TARGETS } from "./platforms.mjs";
import { sbom } from "./sbom.mjs";

const WASM_TARGET = "wasm32-unknown-unknown";
export const CHECKSUMS = "SHA256SUMS";
const root = fileURLToPath(new URL("..", import.meta.url));
const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** One folder, so that unpacking it puts nothing beside what is there. */
function archive(out, { platform, path }, work) {
  const name = `onloop-${version}-${platform}`;
  const folder = join(work, name);
  const program = join(folder, programName(platform));
  mkdirSync(folder);
  copyFileSync(path, program);
  chmodSync(program, 0o755);
  for (const terms of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, "..", terms), join(folder, terms));
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), notices(TARGETS[platform], ["onloop"]));
  // The same program gives the same archive: nobody's name, and one time for all files.
  const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
  const packed = execFileSync("tar", [...same, "-cf", "-", "-C", work, name], { maxBuffer: 512 * 1024 * 1024 });
  writeFileSync(join(out, `${name}.tar.gz`), execFileSync("gzip", ["-9n"], { input: packed, maxBuffer: 512 * 1024 * 1024 }));
}

function make(out, programs, files) {
  mkdirSync(out, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), "onloop-assets-"));
  try {
    for (const program of programs) archive(out, program, work);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  const list = (name, target, roots) => writeFileSync(join(out, `${name}.cdx.json`), sbom({ name, version, license, target, roots }));
  for (const { platform } of programs) list(`onloop-${version}-${platform}`, TARGETS[platform], ["onloop"]);
  list(`onloop-${version}-npm`, WASM_TARGET, ["onloop-wasm", "onloop-wasm-programs"]);
  for (const file of files) copyFileSync(file, join(out, basename(file)));
  const names = readdirSync(out).filter((name) => name !== CHECKSUMS).sort();
  const sums = names.map((name) => `${createHash("sha256").update(readFileSync(join(out, name))).digest("hex")}  ${name}\n`);
  writeFileSync(join(out, CHECKSUMS), sums.join(""));
}

const [folder, ...words] = argv.slice(2);
const named = words.filter((word) => word.includes("="));
if (named.length === 0) {
  console.error("usage: node assets.mjs FOLDER PLATFORM=BINARY... [FILE...]");
  exit(2);
}
try {
  make(resolve(folder), readPrograms(named), words.filter((word) => !word.includes("=")));
} catch (error) {
  console.error(`error: ${error.message}`);
  exit(1);
}
