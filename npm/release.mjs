// `node release.mjs FOLDER [PLATFORM=BINARY...]`: writes the published packages as tarballs into FOLDER: a package with the native
// program for each named platform, and the main package, which has the packages of all platforms as
// optional dependencies. npm installs the one with the right `os` and `cpu`, if there is one.

import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { layOut, NOTICES, PLATFORMS, readPrograms, TERMS } from "./release/platforms.mjs";

const root = fileURLToPath(new URL(".", import.meta.url));
const main = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const [folder, ...words] = argv.slice(2);
const out = resolve(folder);
const work = mkdtempSync(join(tmpdir(), "onloop-release-"));
mkdirSync(out, { recursive: true });
try {
  for (const program of readPrograms(words)) pack(platformPackage(program));
  pack(mainPackage());
} finally {
  rmSync(work, { recursive: true, force: true });
}

function platformPackage(program) {
  const { platform } = program;
  const at = join(work, platform);
  const [os, cpu] = platform.split("-");
  layOut(program, at, "bin");
  const { version, license, repository, publishConfig } = main;
  writeManifest(at, {
    name: `@onloop/${platform}`,
    version,
    description: `The native program of the package onloop, for ${platform}.`,
    license,
    repository,
    os: [os],
    cpu: [cpu],
    files: ["bin", ...TERMS, NOTICES],
    // The program starts from its folder, so package managers must unpack it.
    preferUnplugged: true,
    publishConfig,
  });
  return at;
}

/** Leaves out the members of the manifest that only builds need. */
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
  // On Windows npm is a script, which only a shell can start.
  const shell = process.platform === "win32";
  execFileSync("npm", words, { cwd: at, stdio: ["ignore", "inherit", "inherit"], shell });
}
