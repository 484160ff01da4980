// `node version.mjs [TAG]`: prints the version of everything that is published, which must be one and the same, and what the
// tag names where one is given.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The workspace's own, in the section that all crates take it from. */
function ofWorkspace(toml) {
  const section = toml.slice(toml.indexOf("[workspace.package]"));
  return /^version = "([^"]+)"$/m.exec(section)?.[1];
}

/** Where a version is written down, and which one is there. */
function versions() {
  const text = (path) => readFileSync(join(root, path), "utf8");
  const manifests = [
    "npm/package.json",
    "npm/vscode/package.json",
    "npm/plugin/.claude-plugin/plugin.json",
    "npm/plugin/.codex-plugin/plugin.json",
  ];
  const ofAction = /^ {4}default: "([0-9][^"]*)"$/m.exec(text("action.yml"))?.[1];
  const others = [
    ["Cargo.toml", ofWorkspace(text("Cargo.toml"))],
    ["action.yml", ofAction],
  ];
  return [...others, ...manifests.map((path) => [path, JSON.parse(text(path)).version])];
}

const [tag] = argv.slice(2);
const found = [...versions(), ...(tag === undefined ? [] : [["the tag", tag.replace(/^v/, "")]])];
const [[, version]] = found;
if (tag !== undefined && !tag.startsWith("v")) {
  console.error(`error: the tag is \`${tag}\`; expected \`v${version}\``);
  exit(1);
}
if (found.some(([, other]) => other !== version)) {
  console.error("error: these versions must be the same:");
  for (const [path, other] of found) console.error(`  ${other}  ${path}`);
  exit(1);
}
console.log(version);
