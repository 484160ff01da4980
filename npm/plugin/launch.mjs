#!/usr/bin/env node
// Starts onloop for the hooks and the server of this plugin. A plugin from git has no installation
// step, so this file looks for the program in this order:
//
//   1. the program that `ONLOOP_BINARY` names,
//   2. `onloop` on PATH,
//   3. `runtime` beside this file: the program for Node in the published plugin,
//   4. the npm package around this plugin, or one that Node finds from here.
//
// It downloads nothing. Without a program it refuses tool calls.

import { spawn } from "node:child_process";
import { accessSync, closeSync, constants, openSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants as os } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Clients treat it as a denial, with standard error as the reason. */
const EXIT_DENIED = 2;
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

/** The script for Node of the npm package. */
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

/** The command line of the program, if there is one. */
function find() {
  const named = process.env["ONLOOP_BINARY"];
  if (named !== undefined && named !== "") return [named];
  const native = onPath();
  if (native !== undefined) return [native];
  const script = fromPackage();
  return script === undefined ? undefined : [process.execPath, script];
}

/** The events of tool calls. */
const TOOL_CALLS = ["PreToolUse", "PermissionRequest"];

/** The name of the event on standard input; `undefined` if it is not valid JSON. */
function event() {
  try {
    return JSON.parse(readFileSync(0, "utf8")).hook_event_name;
  } catch {
    return undefined;
  }
}

/** Denies a tool call, because no program can decide it. Other events are not blocked. */
function refuse(why) {
  process.stderr.write(`onloop: ${why}\n`);
  if (words[0] !== "hook") {
    process.exitCode = EXIT_REFUSED;
    return;
  }
  const name = event();
  process.exitCode = name === undefined || TOOL_CALLS.includes(name) ? EXIT_DENIED : 0;
}

/** Whether there is a terminal, which sends its signals to the program itself. A second signal would kill it. */
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
  refuse("the program is not installed; see https://github.com/onloop/onloop/blob/main/docs/install.md");
} else {
  const passed = hasTerminal() ? ["SIGTERM"] : ["SIGTERM", "SIGHUP", "SIGINT"];
  let child;
  // Handlers also keep the signals from ending this process.
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
    process.on(signal, () => void (passed.includes(signal) && child?.kill(signal)));
  }
  child = spawn(command[0], [...command.slice(1), ...words], { stdio: "inherit" });
  child.on("error", (error) => refuse(`cannot run \`${command[0]}\`: ${error.message}`));
  child.on("exit", (code, signal) => {
    process.exitCode = signal === null ? (code ?? EXIT_DENIED) : 128 + os.signals[signal];
  });
}
