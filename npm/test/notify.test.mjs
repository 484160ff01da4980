// The package sends the same notifications as the native program.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { testIf } from "./support/all.mjs";
import { GATED, WF } from "./support/scenarios.mjs";
import * as workspace from "./support/workspace.mjs";
import { built, folder, npmFolder } from "./support/workspace.mjs";

const NATIVE = [built("ONLOOP_TEST_NATIVE")];
const PACKAGE = [process.execPath, join(npmFolder, "bin/onloop.mjs")];

/** A server that receives notifications and answers with a status. */
async function board(t) {
  const state = { asked: [], status: 200 };
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const { method, url, headers } = request;
      state.asked.push({ method, url, auth: headers.authorization, body: JSON.parse(Buffer.concat(parts).toString()) });
      response.writeHead(state.status).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { state, url: `http://127.0.0.1:${server.address().port}/topics/runs` };
}

/** Runs a command line while this process answers as a server. */
async function run([program, ...first], words, options) {
  const child = spawn(program, [...first, ...words], { stdio: ["ignore", "pipe", "pipe"], ...options });
  let stderr = "";
  child.stderr.on("data", (part) => (stderr += part));
  child.stdout.resume();
  const [exit] = await once(child, "close");
  return { exit, stderr };
}

async function told(t, command, template) {
  const { state, url } = await board(t);
  const top = folder(t);
  const cwd = join(top, "project");
  const bin = join(top, "bin");
  for (const made of [cwd, bin]) mkdirSync(made);
  const script = join(bin, "notify-send");
  workspace.write(bin, { "notify-send": `#!/bin/sh\nprintf '%s\\n' "$@" >> ${top}/desktop\n` });
  chmodSync(script, 0o755);
  const yaml = `notify:\n  desktop: true\n  webhook: {url: '${url}', template: ${template}, token: tk}\n  command: cat >> told.jsonl\n`;
  workspace.write(cwd, { [WF]: GATED, ".agentize.local.yaml": yaml });
  const env = workspace.environment(join(top, "home"), { PATH: `${bin}:${process.env.PATH}` });
  const onloop = (...words) => run(command, words, { cwd, env });
  state.status = 503;
  const first = await onloop("run", "--mode", "none");
  state.status = 200;
  const second = await onloop("resume");
  const third = await onloop("resume");
  const local = (text) => text.replaceAll(top, "TOP").replaceAll(/127\.0\.0\.1:\d+/g, "HERE");
  return JSON.parse(
    local(
      JSON.stringify({
        asked: state.asked,
        ends: [first, second, third],
        desktop: readFileSync(join(top, "desktop"), "utf8"),
        command: readFileSync(join(cwd, "told.jsonl"), "utf8"),
      }),
    ),
  );
}

for (const template of ["json", "ntfy", "slack", "discord"]) {
  testIf(template === "json")(`each channel gets one notification, as from the native program: ${template}`, async (t) => {
    const found = await told(t, PACKAGE, template);
    assert.deepEqual(found, await told(t, NATIVE, template));
    assert.deepEqual(found.ends.map(({ exit }) => exit), [3, 3, 3]);
    assert.match(found.ends[0].stderr, /`notify\.webhook` was not\s+reached:\s+http:\/\/HERE\s+answered\s+with\s+status\s+503\n/);
    assert.doesNotMatch(found.ends[1].stderr, /not reached/);
    // The channel with a failure twice, the others once.
    assert.equal(found.asked.length, 2);
    assert.deepEqual(found.asked[0], found.asked[1]);
    assert.equal(found.asked[0].auth, "Bearer tk");
    assert.equal(found.asked[0].url, template === "ntfy" ? "/topics/" : "/topics/runs");
    assert.equal(found.command.trimEnd().split("\n").length, 1);
    assert.equal(found.desktop.split("--app-name=onloop").length, 2);
  });
}
