// Where the clients are, and new machines for them.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
/** Top of the checkout. */
export const repository = join(here, "../..");
/** The native program under test. */
const NATIVE = process.env["ONLOOP_TEST_NATIVE"];

/** The program of Claude Code for this platform, without the script that would install it. */
export function claude() {
  const scope = join(here, "node_modules/@anthropic-ai");
  const packages = readdirSync(scope).filter((name) => name.startsWith("claude-code-"));
  const found = packages.map((name) => join(scope, name, "claude")).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`no Claude Code in ${scope}; \`npm ci\` brings it`);
  return found;
}

/** The program of Codex, which needs no installation. */
export function codex() {
  return join(here, "node_modules/.bin/codex");
}

/** The program of opencode for this platform, without the script that would install it. */
export function opencode() {
  const name = `opencode-${process.platform}-${process.arch}`;
  return join(here, "node_modules", name, "bin/opencode");
}

const made = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A project with something to destroy, a home and an `onloop` on the PATH, all of them new. */
export function machine(variables) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "onloop-hosts-")));
  made.push(folder);
  for (const name of ["home", "project", "bin"]) mkdirSync(join(folder, name));
  symlinkSync(NATIVE, join(folder, "bin/onloop"));
  mkdirSync(join(folder, "project/victim"));
  writeFileSync(join(folder, "project/victim/file"), "still here\n");
  const home = join(folder, "home");
  const env = {
    PATH: [join(folder, "bin"), process.env["PATH"]].join(delimiter),
    HOME: home,
    HANDSOFF_AUTO_PERMISSION: "0",
    ...variables(home),
  };
  return { project: join(folder, "project"), home, bin: join(folder, "bin/onloop"), env };
}

/** Runs a program to its end. */
export function run(program, words, { project, env }) {
  return new Promise((resolve) => {
    const options = { cwd: project, env, timeout: 120_000 };
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
    child.stdin.end();
  });
}
