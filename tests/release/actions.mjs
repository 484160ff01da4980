// Fakes of the actions in our workflows. Each is as strict as the real action where that could
// break a release: artifacts lose permissions and hidden files, attestations need permissions.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const stands = fileURLToPath(new URL("stand-ins", import.meta.url));

/** Every file below a folder, relative to it, sorted. */
export function filesBelow(folder, below = ".") {
  const entries = readdirSync(join(folder, below), { withFileTypes: true });
  const found = entries.flatMap((entry) => {
    const path = join(below, entry.name);
    return entry.isDirectory() ? filesBelow(folder, path) : [path];
  });
  return found.sort();
}

function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

/** Copies the files of git and untracked ones, with their current content. */
export function copyCheckout(from, to) {
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const names = execFileSync("git", words, { cwd: from, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  for (const name of names.split("\0").filter((name) => name !== "")) {
    // A deleted file may still be in the index.
    if (existsSync(join(from, name))) copy(join(from, name), join(to, name));
  }
}

function checkOut(given, { folder, world, platform }) {
  if (given["persist-credentials"] !== "false") {
    throw new Error("a checkout keeps the token for every script that follows; set `persist-credentials: false`");
  }
  if (platform !== undefined) return;
  copyCheckout(world.repository, folder);
  copy(join(stands, "test"), join(folder, "test"));
}

/** The real action fails without a lock file. */
function setUpNode(given, { world }) {
  for (const pattern of given["cache-dependency-path"]?.split("\n") ?? []) {
    const found = execFileSync("git", ["ls-files", "--", `:(glob)${pattern}`], { cwd: world.repository, encoding: "utf8" });
    if (found === "") throw new Error(`no lock file is at \`${pattern}\``);
  }
}

function upload(given, { folder, world, platform }) {
  const source = join(folder, given.path);
  if (platform !== undefined) {
    mkdirSync(dirname(source), { recursive: true });
    writeFileSync(source, `A stand-in for a program for ${platform}\n`);
  }
  if (given["if-no-files-found"] !== "error") throw new Error("an artifact that is missing must be an error: `if-no-files-found: error`");
  if (!existsSync(source)) throw new Error(`no file at \`${given.path}\``);
  const target = join(world.artifacts, given.name);
  if (existsSync(target)) throw new Error(`an artifact \`${given.name}\` is there already`);
  const [top, names] = statSync(source).isDirectory() ? [source, filesBelow(source)] : [dirname(source), [basename(source)]];
  const kept = names.filter((name) => !name.split("/").some((part) => part.startsWith(".")));
  if (kept.length === 0) throw new Error(`no file in \`${given.path}\` that is not hidden`);
  for (const name of kept) {
    copy(join(top, name), join(target, name));
    chmodSync(join(target, name), 0o644);
  }
}

function download(given, { folder, world }) {
  const there = existsSync(world.artifacts) ? readdirSync(world.artifacts) : [];
  const to = join(folder, given.path ?? ".");
  const take = (name, place) => {
    for (const file of filesBelow(join(world.artifacts, name))) copy(join(world.artifacts, name, file), join(place, file));
  };
  if (given.name !== undefined) {
    if (!there.includes(given.name)) throw new Error(`there is no artifact \`${given.name}\``);
    take(given.name, to);
    return;
  }
  const prefix = (given.pattern ?? "*").replace(/\*$/, "");
  const chosen = there.filter((name) => name.startsWith(prefix));
  if (chosen.length === 0) throw new Error(`no artifact is called \`${given.pattern}\``);
  for (const name of chosen) take(name, join(to, name));
}

function attest(given, { folder, world, permissions }) {
  for (const name of ["id-token", "attestations"]) {
    if (permissions[name] !== "write") throw new Error(`the job needs the permission \`${name}: write\``);
  }
  for (const pattern of given["subject-path"].trim().split(/\s+/)) {
    const match = /^([^*]+)\/\*$/.exec(pattern);
    if (match === null) throw new Error(`\`${pattern}\` is not known here; expected FOLDER/*`);
    const place = join(folder, match[1]);
    for (const name of readdirSync(place)) {
      world.attested.set(createHash("sha256").update(readFileSync(join(place, name))).digest("hex"), name);
    }
  }
}

/** The inputs of each action, and its effect here. */
export const ACTIONS = {
  "actions/checkout": { takes: ["persist-credentials"], perform: checkOut },
  "actions/setup-node": { takes: ["node-version", "registry-url", "cache", "cache-dependency-path"], perform: setUpNode },
  "Swatinem/rust-cache": { takes: ["key", "save-if"], perform: () => {} },
  "actions/upload-artifact": { takes: ["name", "path", "if-no-files-found"], perform: upload },
  "actions/download-artifact": { takes: ["name", "path", "pattern"], perform: download },
  "actions/attest-build-provenance": { takes: ["subject-path"], perform: attest },
};
