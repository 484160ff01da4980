// `node release.mjs FOLDER PLATFORM=BINARY...`: makes what is published, as tarballs in FOLDER:
// a package with the native program for each platform that is named, and the main package, which
// names the packages of all platforms as optional. npm installs the one whose `os` and `cpu` fit
// and goes on without where there is none.

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { notices } from "./notices.mjs";
import { PLATFORMS, programName, readPrograms, TARGETS } from "./release/platforms.mjs";

/** What licences ask to be beside the program. */
const TERMS = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];
const NOTICES = "THIRD-PARTY-NOTICES.txt";

const root = fileURLToPath(new URL(".", import.meta.url));
const main = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const [folder, ...binaries] = argv.slice(2);
if (folder === undefined) {
  console.error("usage: node release.mjs FOLDER PLATFORM=BINARY...");
  console.error(`PLATFORM is one of ${PLATFORMS.join(", ")}`);
  exit(2);
}
let programs;
try {
  programs = readPrograms(binaries);
} catch (error) {
  console.error(`error: ${error.message}`);
  exit(1);
}

const out = resolve(folder);
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "onloop-release-"));
try {
  for (const program of programs) pack(platformPackage(program));
  pack(mainPackage());
} finally {
  rmSync(work, { recursive: true, force: true });
}

function platformPackage({ platform, path, loader }) {
  const at = join(work, platform);
  const [os, cpu] = platform.split("-");
  const program = programName(platform);
  mkdirSync(join(at, "bin"), { recursive: true });
  copyFileSync(path, join(at, "bin", program));
  chmodSync(join(at, "bin", program), 0o755);
  for (const name of TERMS) copyFileSync(join(root, name), join(at, name));
  writeFileSync(join(at, NOTICES), notices(TARGETS[platform], ["onloop"]));
  const { version, license, repository } = main;
  writeManifest(at, {
    name: `@onloop/${platform}`,
    version,
    description: `The native program of the package onloop, for ${platform}.`,
    license,
    repository,
    os: [os],
    cpu: [cpu],
    // A program that has its C library inside runs wherever the kernel is the right one. Another one needs that library:
    // where it is not, npm leaves the package out, and the module takes its place.
    ...(loader !== undefined && { libc: [loader.includes("musl") ? "musl" : "glibc"] }),
    files: ["bin", ...TERMS, NOTICES],
    // It is started from where it lies: some package managers would keep it in an archive.
    preferUnplugged: true,
    publishConfig: { access: "public" },
  });
  return at;
}

/** What a checkout has no use for is left out: how the package is made. */
function mainPackage() {
  const at = join(work, "main");
  for (const name of new Set([...main.files, "README.md", ...TERMS])) {
    cpSync(join(root, name), join(at, name), { recursive: true });
  }
  const { scripts, devDependencies, ...manifest } = main;
  const optional = PLATFORMS.map((platform) => [`@onloop/${platform}`, main.version]);
  writeManifest(at, { ...manifest, optionalDependencies: Object.fromEntries(optional) });
  return at;
}

function writeManifest(at, manifest) {
  writeFileSync(join(at, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

function pack(at) {
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", out];
  // npm is a script there, which only a shell can start.
  const shell = process.platform === "win32";
  execFileSync("npm", words, { cwd: at, stdio: ["ignore", "inherit", "inherit"], shell });
}
