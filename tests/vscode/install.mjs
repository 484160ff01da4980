// Installs code-server: a whole VS Code server with its extension hosts, from the npm registry.
//
// Its install script needs root and fetches other programs. This script builds what a headless
// host needs, without search and sign-in.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { VERSION } from "./version.mjs";

const folder = resolve(process.argv[2]);
const home = join(folder, `code-server-${VERSION}`);
if (!existsSync(join(home, "installed"))) {
  const fresh = join(folder, "package");
  rmSync(fresh, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const run = (cwd, program, ...words) => {
    console.log(`$ ${program} ${words.join(" ")}`);
    execFileSync(program, words, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  };
  const quiet = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  run(folder, "npm", "pack", "--silent", `code-server@${VERSION}`);
  run(folder, "tar", "xzf", `code-server-${VERSION}.tgz`);
  rmSync(join(folder, `code-server-${VERSION}.tgz`));
  run(fresh, "npm", "ci", ...quiet);
  run(fresh, "npm", "rebuild", "--loglevel=error", "argon2");
  const code = join(fresh, "lib", "vscode");
  // Its lock file differs from its manifest, which `npm ci` refuses.
  run(code, "npm", "install", ...quiet);
  // Its own script would fetch another program with `npx` after the build.
  const terminals = join(code, "node_modules", "node-pty", "package.json");
  const { scripts, ...manifest } = JSON.parse(readFileSync(terminals, "utf8"));
  delete scripts.postinstall;
  writeFileSync(terminals, JSON.stringify({ ...manifest, scripts }));
  const built = ["@vscode/spdlog", "native-watchdog", "@vscode/deviceid", "@parcel/watcher", "node-pty"];
  run(code, "npm", "rebuild", "--loglevel=error", ...built);
  symlinkSync("node_modules", join(code, "node_modules.asar"));
  writeFileSync(join(fresh, "installed"), `${VERSION}\n`);
  renameSync(fresh, home);
}
console.log(`code-server ${VERSION} is in ${home}`);
