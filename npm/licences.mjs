// `node licences.mjs FILE...`: refuses lock files with packages under terms that are not on the list.

import { readFileSync } from "node:fs";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

/** Accepted terms of published packages and tools. */
const ALLOWED = ["0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "ISC", "MIT", "MIT OR Apache-2.0"];

/** Tools under other terms that only the build uses. They are not published. */
const TOOLS = {
  // Reads pages in tests as a screen reader would.
  "MPL-2.0": /^axe-core$/,
  // The letters of pictures that tests compare.
  "OFL-1.1": /^@fontsource\//,
  // The terms of Python, whose reader of command lines it is after; the linter brings it.
  "Python-2.0": /^argparse$/,
  // Of VS Code's packager: npm's own archive reader, and Microsoft's signing tool.
  "Artistic-2.0": /./,
  "SEE LICENSE IN LICENSE.txt": /^@vscode\/vsce-sign/,
};

/** The packages of a lock file without accepted terms, one line each. */
export function refused(lock) {
  const faults = [];
  for (const [path, { license, link, dev }] of Object.entries(lock.packages)) {
    if (path === "" || link === true) continue;
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const tool = dev === true && TOOLS[license]?.test(name);
    if (!ALLOWED.includes(license) && !tool) {
      faults.push(`${name}: its licence is ${license === undefined ? "not named" : `\`${license}\``}`);
    }
  }
  return faults;
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  let faults = 0;
  for (const file of argv.slice(2)) {
    for (const fault of refused(JSON.parse(readFileSync(file, "utf8")))) {
      console.error(`${file}: ${fault}`);
      faults += 1;
    }
  }
  exit(faults === 0 ? 0 : 1);
}
