// `node notices.mjs TARGET FILE PACKAGE...`: writes the notices of everything by others that is linked into these
// packages of the workspace when they are built for TARGET. Licences ask that their texts go where the program goes.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const workspace = fileURLToPath(new URL("..", import.meta.url));

/** Files in which crates keep their terms. */
const TERMS = /^(licen[cs]e|copying|copyright|notice|unlicense)/i;

/** The text of the notices. */
export function notices(target, packages) {
  const crates = cratesOf(target, packages);
  const texts = new Map();
  for (const crate of crates) {
    for (const text of termsOf(crate)) {
      const users = texts.get(text) ?? [];
      texts.set(text, [...users, `${crate.name} ${crate.version}`]);
    }
  }
  const lines = crates.map(({ name, version, license, repository }) =>
    [`${name} ${version}`, license, repository].filter(Boolean).join("  ·  "),
  );
  const rule = "-".repeat(80);
  const parts = [...texts].map(([text, users]) => `${rule}\n${wrapped(users.join(", "))}\n${rule}\n\n${text}\n`);
  return [
    "onloop contains code by others. Each part is under its own terms:\n",
    `${lines.join("\n")}\n`,
    "Rust's standard library is under MIT or Apache-2.0: https://github.com/rust-lang/rust\n",
    ...parts,
  ].join("\n");
}

/** Crates by others that are linked into `packages` when they are built for `target`. */
export function cratesOf(target, packages) {
  return linked(metadata(target), packages);
}

const asked = new Map();

/** The metadata of cargo, read once for each target. */
function metadata(target) {
  if (!asked.has(target)) asked.set(target, ask(target));
  return asked.get(target);
}

function ask(target) {
  const words = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target];
  const options = { cwd: workspace, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 };
  return JSON.parse(execFileSync(process.env.CARGO ?? "cargo", words, options));
}

/** Crates by others that `packages` need when they run, sorted by name. */
export function linked({ packages: known, resolve }, packages) {
  const crates = new Map(known.map((crate) => [crate.id, crate]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const roots = known.filter((crate) => crate.source === null && packages.includes(crate.name));
  if (roots.length !== packages.length) throw new Error(`not packages of this workspace: ${packages.join(", ")}`);
  const seen = new Set();
  const next = roots.map((crate) => crate.id);
  while (next.length > 0) {
    const id = next.pop();
    if (seen.has(id)) continue;
    seen.add(id);
    if (isMacro(crates.get(id))) continue;
    for (const dependency of nodes.get(id).deps) {
      // Tests and build scripts are not in the program.
      if (dependency.dep_kinds.some(({ kind }) => kind === null)) next.push(dependency.pkg);
    }
  }
  const others = [...seen].map((id) => crates.get(id)).filter((crate) => crate.source !== null && !isMacro(crate));
  return others.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1));
}

/** Macros run in the compiler and are not linked. */
const isMacro = (crate) => crate.targets.some(({ kind }) => kind.includes("proc-macro"));

function termsOf(crate) {
  const folder = dirname(crate.manifest_path);
  const own = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && TERMS.test(entry.name))
    .map((entry) => entry.name)
    .sort();
  // The same text appears once, whatever its line breaks are.
  return own.map((name) =>
    readFileSync(join(folder, name), "utf8")
      .replaceAll("\r\n", "\n")
      .replace(/[ \t]+$/gm, "")
      .trim(),
  );
}

function wrapped(text) {
  return text.replace(/(.{1,78})(?: |$)/g, "$1\n").trimEnd();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [target, file, ...packages] = argv.slice(2);
  if (packages.length === 0) {
    console.error("usage: node notices.mjs TARGET FILE PACKAGE...");
    exit(2);
  }
  writeFileSync(file, notices(target, packages));
}
