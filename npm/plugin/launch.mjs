#!/usr/bin/env node
// Starts onloop for the hooks and the server of this plugin: a plugin that comes from git has no
// step in which anything could be installed. Looks for the program in this order:
//
//   1. what `ONLOOP_BINARY` names,
//   2. `onloop` on PATH,
//   3. `runtime` beside this file, which the published plugin has: the program for Node itself,
//   4. the npm package that this plugin lies in, or one that Node finds from here.
//
// Nothing is downloaded. Where there is no program, a call is refused rather than let through.

import { spawn } from "node:child_process";
import { accessSync, closeSync, constants, openSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants as os } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Hosts take it as a refusal, with what was said on standard error as the reason. */
const EXIT_NO = 2;
const EXIT_REFUSED = 4;
const folder = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);

/** Whether a path is a program that may be run. */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function onPath() {
  const names = process.platform === "win32" ? ["onloop.exe"] : ["onloop"];
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  return folders.flatMap((place) => names.map((name) => join(place, name))).find(isProgram);
}

/** The npm package: a script for Node, because its own launcher prefers a native program. */
function fromPackage() {
  for (const place of ["runtime", ".."]) {
    const script = join(folder, place, "bin/onloop.mjs");
    if (isFile(script) && isFile(join(folder, place, "dist/launch.js"))) return script;
  }
  try {
    const manifest = createRequire(import.meta.url).resolve("onloop/package.json");
    return join(dirname(manifest), "bin/onloop.mjs");
  } catch {
    return undefined;
  }
}

function isFile(path) {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The words that start the program, or nothing. */
function find() {
  const named = process.env["ONLOOP_BINARY"];
  if (named !== undefined && named !== "") return [named];
  const native = onPath();
  if (native !== undefined) return [native];
  const script = fromPackage();
  return script === undefined ? undefined : [process.execPath, script];
}

/** The events at which "no" keeps something from happening that nobody has judged. */
const CALLS = ["PreToolUse", "PermissionRequest"];

/** The event on standard input, where that can be read. */
function event() {
  try {
    return JSON.parse(readFileSync(0, "utf8")).hook_event_name;
  } catch {
    return undefined;
  }
}

/**
 * Nobody can judge. A call is refused; an agent that wants to stop and a person who writes are
 * not held up.
 */
function refuse(why) {
  process.stderr.write(`onloop: ${why}\n`);
  // Only hooks are asked for a judgement.
  if (words[0] !== "hook") {
    process.exitCode = EXIT_REFUSED;
    return;
  }
  const name = event();
  process.exitCode = name === undefined || CALLS.includes(name) ? EXIT_NO : 0;
}

/** Whether there is a terminal: it sends its own signals to the program as well, and two mean "at once". */
function hasTerminal() {
  if (process.platform === "win32") return true;
  try {
    closeSync(openSync("/dev/tty", constants.O_RDONLY | constants.O_NOCTTY));
    return true;
  } catch {
    return false;
  }
}

const command = find();
if (command === undefined) {
  refuse("the program is not installed; https://github.com/onloop/onloop/blob/main/docs/install.md tells how to install it");
} else {
  const passed = hasTerminal() ? ["SIGTERM"] : ["SIGTERM", "SIGHUP", "SIGINT"];
  let child;
  // Before there is anybody to pass them on to: we are not ended by them either.
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
    process.on(signal, () => void (passed.includes(signal) && child?.kill(signal)));
  }
  child = spawn(command[0], [...command.slice(1), ...words], { stdio: "inherit" });
  child.on("error", (error) => refuse(`cannot run \`${command[0]}\`: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exitCode = signal === null ? (code ?? EXIT_NO) : 128 + os.signals[signal];
  });
}
