// `node version.mjs` prints the version, which must be the same in every published file.
// `node version.mjs TAG` also demands that the tag, the changelog and the documents agree with it.
// `node version.mjs --set VERSION` prepares a release: it writes the version and today's date where they belong, and takes
// the notice out of the documents that there is no release yet.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const text = (path) => readFileSync(join(root, path), "utf8");

/** The places of the version: behind the first group of a pattern. */
const TOML = /((?:^version|^[\w-]+ = \{ path = "[^"]+", version) = ")([^"]+)/gm;
const MANIFEST = /(^ {2}"version": ")([^"]+)/gm;
const LOCK = /(^ {2}"version": "|^ {6}"name": "onloop",\n {6}"version": ")([^"]+)/gm;
const PLACES = {
  "Cargo.toml": TOML,
  "action.yml": /(^ {4}default: ")([0-9][^"]*)/gm,
  "npm/package.json": MANIFEST,
  "npm/package-lock.json": LOCK,
  "npm/vscode/package.json": MANIFEST,
  "npm/vscode/package-lock.json": LOCK,
  "npm/plugin/.claude-plugin/plugin.json": MANIFEST,
  "npm/plugin/.codex-plugin/plugin.json": MANIFEST,
  "docs/install.md": /(^version=)([^\n]+)/gm,
  "docs/github.md": /(COMMIT # v|^ {4}version: |onloop\/onloop 'refs\/tags\/v)(\d+\.\d+\.\d+)/gm,
};
const CHANGELOG = "CHANGELOG.md";
const NOTICE = { path: "docs/install.md", pattern: /<!-- no release yet -->\n[^]*?<!-- \/no release yet -->\n/ };

function set(version) {
  const [[, before]] = versions();
  for (const [path, pattern] of Object.entries(PLACES)) {
    writeFileSync(join(root, path), text(path).replace(pattern, (_, before) => before + version));
  }
  // The lock file names the workspace's own crates, too.
  if (version !== before) execFileSync("cargo", ["update", "--workspace", "--offline", "--quiet"], { cwd: root, stdio: "inherit" });
  const today = new Date().toISOString().slice(0, 10);
  writeFileSync(join(root, CHANGELOG), text(CHANGELOG).replace("## [Unreleased]\n", `## [Unreleased]\n\n## [${version}] - ${today}\n`));
  writeFileSync(join(root, NOTICE.path), text(NOTICE.path).replace(NOTICE.pattern, ""));
}

/** Every version with its place. */
function versions() {
  return Object.entries(PLACES).flatMap(([path, pattern]) => {
    const found = [...text(path).matchAll(pattern)].map(([, , version]) => [path, version]);
    return found.length === 0 ? [[path, "none"]] : found;
  });
}

/** The problems of the tag, one line each. */
function faults(tag, version) {
  return [
    tag !== `v${version}` && `the tag is \`${tag}\`; expected \`v${version}\``,
    !text(CHANGELOG).includes(`\n## [${version}] - `) && `${CHANGELOG} has no heading for ${version}`,
    NOTICE.pattern.test(text(NOTICE.path)) && `${NOTICE.path} says that there is no release`,
  ].filter(Boolean);
}

const [word, value] = argv.slice(2);
if (word === "--set") set(value);
const found = versions();
const [[, version]] = found;
const others = found.filter(([, other]) => other !== version).map(([path, other]) => `${path} has version ${other}; Cargo.toml has ${version}`);
const wrong = [...others, ...(word === undefined || word === "--set" ? [] : faults(word, version))];
for (const fault of wrong) console.error(`error: ${fault}`);
if (wrong.length > 0) exit(1);
console.log(version);
