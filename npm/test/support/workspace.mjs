// Folders for programs, isolated from the person who runs the tests.

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./temporary.mjs";

export const npmFolder = fileURLToPath(new URL("../..", import.meta.url));
export const repository = resolve(npmFolder, "..");

/** A program that the build made, named by a variable; the build's own stage sets it. */
export function built(variable) {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} is not set; run \`cargo xtask npm\``);
  return path;
}

/** A folder that is gone after the test. */
export function folder(test) {
  const path = temporaryFolder("onloop-npm-");
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** State homes of the tests: beside their projects, which may not contain them. */
const stateHomes = new Set();
process.once("exit", () => {
  for (const path of stateHomes) rmSync(path, { recursive: true, force: true });
});

/** An environment with only these variables. */
export function environment(home, more = {}) {
  const state = `${home}.state`;
  stateHomes.add(state);
  return {
    // Prompts call `onloop` by this name only where it is found by it.
    PATH: [dirname(built("ONLOOP_TEST_NATIVE")), process.env.PATH].join(delimiter),
    HOME: home,
    ONLOOP_STATE_HOME: state,
    // Only the native program has a sandbox.
    ONLOOP_CONFINE: "off",
    ONLOOP_CONTINUE: "never",
    LANG: "C.UTF-8",
    ONLOOP_NOW: "2026-03-20T21:23:15Z",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_DATE: "2026-03-20T21:23:15Z",
    GIT_COMMITTER_DATE: "2026-03-20T21:23:15Z",
    ...more,
  };
}

/** Writes files, given as `{path: text}`. */
export function write(root, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** A text in the form of files. */
export const bytes = (text) => new TextEncoder().encode(text);

/** Makes a repository of a folder, with one commit of everything in it. */
export function commitAll(root, env) {
  const git = (...words) => execFileSync("git", words, { cwd: root, env, stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Somebody");
  git("config", "user.email", "somebody@example.org");
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message", "Begin");
}

/** Runs a program to its end. */
export function run(command, words, options) {
  const [program, ...first] = command;
  const end = spawnSync(program, [...first, ...words], { encoding: "utf8", ...options });
  if (end.error) throw end.error;
  return { exit: end.status, stdout: end.stdout, stderr: end.stderr };
}

/** The id of the first run that a folder has the record of. */
export function firstRun(root) {
  const found = Object.keys(tree(root)).find((path) => path.includes(".hotl/state/"));
  return found === undefined ? "none" : basename(found, ".json");
}

/** The digest of a ledger differs for each process. */
const withoutDigests = (text) => text.replace(/"sha256": "[0-9a-f]{64}"/g, '"sha256": "…"');

/** Every file below a folder as `{path: text}`, without git's files. */
export function tree(root, below = "") {
  const files = {};
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = join(below, entry.name);
    // Ledgers name folders and processes, which differ.
    if (entry.name === ".git" || entry.name.endsWith(".state")) continue;
    if (entry.isDirectory()) Object.assign(files, tree(root, path));
    else files[path] = entry.isFile() ? withoutDigests(readFileSync(join(root, path), "latin1")) : "(no file)";
  }
  return files;
}

/** `text` without what the native host alone observes: the files that a check opens. */
export function withoutObserved(text) {
  return text
    .replaceAll("the check opened", "the check names")
    .replaceAll('"found": "opened"', '"found": "named"')
    .replaceAll(/^.*opened \d+ changed files?: .*\n/gm, "")
    .replaceAll(/^- onloop (observed|did not observe) which files .*\n/gm, "")
    .replaceAll(/^( *)"inputs": \[\n[^]*?^\1\],?\n/gm, "");
}
