// `node platform.mjs BINARY FOLDER [PLATFORM-ARCH]`: makes the package that carries the native
// program for one platform. The main package finds it by its name; npm installs it only where
// `os` and `cpu` fit.

import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

/** As Node names them. */
const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];

const [binary, folder, platform = `${process.platform}-${process.arch}`] = argv.slice(2);
if (binary === undefined || folder === undefined || !PLATFORMS.includes(platform)) {
  console.error("usage: node platform.mjs BINARY FOLDER [PLATFORM-ARCH]");
  console.error(`PLATFORM-ARCH is one of ${PLATFORMS.join(", ")}`);
  exit(2);
}
const root = fileURLToPath(new URL(".", import.meta.url));
const { version, license, repository } = JSON.parse(readFileSync(join(root, "package.json")));
const [os, cpu] = platform.split("-");
const program = os === "win32" ? "onloop.exe" : "onloop";
const manifest = {
  name: `onloop-${platform}`,
  version,
  description: `The native program of the package onloop, for ${platform}.`,
  license,
  repository,
  os: [os],
  cpu: [cpu],
  files: ["bin"],
  // It is started from where it lies: some package managers would keep it in an archive.
  preferUnplugged: true,
};
mkdirSync(join(folder, "bin"), { recursive: true });
copyFileSync(binary, join(folder, "bin", program));
chmodSync(join(folder, "bin", program), 0o755);
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
