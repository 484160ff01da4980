// The platforms of native programs, and the files beside the program.

import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { notices } from "../notices.mjs";

/** Their names in Node and in Rust. */
export const TARGETS = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
};
export const PLATFORMS = Object.keys(TARGETS);

/** The license files. */
export const TERMS = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];
export const NOTICES = "THIRD-PARTY-NOTICES.txt";
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Parses `PLATFORM=BINARY...` of a command line. */
export function readPrograms(words) {
  return words.map((word) => {
    const [platform, path] = word.split(/=(.*)/s);
    if (path === undefined || !PLATFORMS.includes(platform)) {
      throw new Error(`\`${word}\`: expected PLATFORM=BINARY, PLATFORM one of ${PLATFORMS.join(", ")}`);
    }
    return { platform, path };
  });
}

/** Creates `folder` with the licenses, and the program in `bin`. */
export function layOut({ platform, path }, folder, bin) {
  const program = join(folder, bin, platform.startsWith("win32-") ? "onloop.exe" : "onloop");
  mkdirSync(join(folder, bin), { recursive: true });
  copyFileSync(path, program);
  // An artifact of a workflow keeps no permissions.
  chmodSync(program, 0o755);
  for (const name of TERMS) copyFileSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, NOTICES), notices(TARGETS[platform], ["onloop"]));
}
