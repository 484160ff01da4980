// Launchers pass each signal to the program once.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { folder, npmFolder } from "./support/workspace.mjs";

/** A program that logs each signal and ends with the first SIGTERM. */
const PROGRAM = `#!${process.execPath}
const { appendFileSync, renameSync, writeFileSync } = require("node:fs");
for (const name of ["INT", "HUP", "TERM"]) {
  process.on("SIG" + name, () => {
    appendFileSync("signals", name + "\\n");
    // Signals that arrive at the same time are logged as well.
    if (name === "TERM") setTimeout(() => process.exit(7), 50);
  });
}
setInterval(() => undefined, 1000);
writeFileSync("ready.new", String(process.ppid));
renameSync("ready.new", "ready");
`;

const LAUNCHERS = {
  "the plugin's launcher": join(npmFolder, "plugin/launch.mjs"),
  "the package's command": join(npmFolder, "bin/onloop.mjs"),
};

function place(t) {
  const cwd = folder(t);
  writeFileSync(join(cwd, "program"), PROGRAM);
  chmodSync(join(cwd, "program"), 0o755);
  const env = { ...process.env, ONLOOP_BINARY: join(cwd, "program"), _: "" };
  return { cwd, env };
}

async function comes(path, what = () => true) {
  for (let tries = 0; !existsSync(path) || !what(readFileSync(path, "utf8")); tries += 1) {
    assert.ok(tries < 4000, `${path} does not come`);
    await pause(5);
  }
  return readFileSync(path, "utf8");
}

for (const [name, script] of Object.entries(LAUNCHERS)) {
  test(`${name} passes on a signal that only it receives`, async (t) => {
    const { cwd, env } = place(t);
    // A new session has no terminal that sends signals.
    const child = spawn(process.execPath, [script, "status"], { cwd, env, detached: true, stdio: "ignore" });
    t.after(() => child.kill("SIGKILL"));
    const ended = once(child, "exit");
    await comes(join(cwd, "ready"));
    for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"]) {
      child.kill(signal);
      await comes(join(cwd, "signals"), (text) => text.includes(signal.slice(3)));
    }
    assert.deepEqual(await ended, [7, null]);
    assert.equal(readFileSync(join(cwd, "signals"), "utf8"), "INT\nHUP\nTERM\n");
  });

  test(`${name} does not double Ctrl-C`, async (t) => {
    const { cwd, env } = place(t);
    const line = `exec "${process.execPath}" "${script}" status`;
    const child = spawn("script", ["--quiet", "--command", line, "/dev/null"], { cwd, env, stdio: ["pipe", "ignore", "ignore"] });
    t.after(() => child.kill("SIGKILL"));
    const launcher = Number(await comes(join(cwd, "ready")));
    const ended = once(child, "exit");
    child.stdin.write("\x03");
    await comes(join(cwd, "signals"));
    // A second signal would arrive before this.
    process.kill(launcher, "SIGTERM");
    await ended;
    assert.deepEqual(readFileSync(join(cwd, "signals"), "utf8").trim().split("\n").sort(), ["INT", "TERM"]);
  });
}

test("SIGHUP does not end a program under nohup", async (t) => {
  const { cwd, env } = place(t);
  // Node would reset an ignored signal.
  writeFileSync(env.ONLOOP_BINARY, "#!/bin/sh\n: > ready\nwhile :; do sleep 0.05; done\n");
  const words = [process.execPath, LAUNCHERS["the package's command"], "status"];
  const options = { cwd, env: { ...env, _: "/usr/bin/nohup" }, detached: true, stdio: "ignore" };
  const child = spawn("nohup", words, options);
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  await comes(join(cwd, "ready"));
  // The program gets it as well, as from a closing terminal.
  process.kill(-child.pid, "SIGHUP");
  process.kill(child.pid, "SIGTERM");
  assert.deepEqual(await ended, [128 + 15, null]);
});
