// Tests that every client has to pass.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { testIf } from "../../npm/test/support/all.mjs";
import { claude, codex, machine, onloop, run } from "./clients.mjs";

/** Lets the agent run these lines, and returns their output. */
export async function lines(client, place, list, options) {
  const ended = await client.session(place, list.map((run) => ({ run })), options);
  assert.equal(ended.code, 0, JSON.stringify(ended));
  assert.equal(ended.heard.results.length, list.length, JSON.stringify(ended));
  return ended.heard.results;
}

/**
 * `denied` is a line that we deny; `ran` tells whether it ran.
 *
 * @param {{ denied: string, ran: (project: string) => boolean, options?: object }} about
 */
export function guards(client, { denied, ran, options }) {
  const both = [denied, "mkdir allowed"];
  const made = (place) => existsSync(join(place.project, "allowed"));

  testIf(client === codex)("without hooks the agent runs its lines", async () => {
    const place = machine(client);
    await lines(client, place, both, options);
    assert.ok(ran(place.project) && made(place));
  });

  test("installed hooks keep a denied line from running and let an allowed one run", async () => {
    for (const scope of ["user", "project"]) {
      const place = machine(client);
      await onloop(place, "install", client.name, "--scope", scope);
      await areGuarded(place, options);
      await onloop(place, "doctor", client.name);
    }
  });

  async function areGuarded(place, options) {
    const results = await lines(client, place, both, options);
    assert.ok(!ran(place.project), "the denied line did not run");
    assert.match(results[0], /onloop \(/);
    assert.ok(made(place), `the allowed line ran: ${results[1]}`);
  }
  return areGuarded;
}

/** Broken hooks, as scripts in place of the program; `undefined` is a missing program. */
export const BROKEN = {
  "that is gone": undefined,
  "that fails": "exit 1",
  "that is killed": "kill -9 $$",
  "that stops in the middle of its answer": `printf '{"hookSpecificOutput": {"hookEventName":'`,
};

/** Those that every run tries. */
const SAMPLED = ["that is gone", "that is killed"];

/** Whether a line runs with such a broken hook. */
export async function runsWith(client, script, options) {
  const place = machine(client);
  await onloop(place, "install", client.name);
  rmSync(place.bin);
  if (script !== undefined) writeFileSync(place.bin, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await lines(client, place, ["mkdir made"], options);
  return existsSync(join(place.project, "made"));
}

/** For clients that let a failed hook deny. They do not notice those in `runs`. */
export function failsClosed(client, stops, runs = []) {
  for (const how of [...stops, ...runs]) {
    const isRun = runs.includes(how);
    const what = isRun ? "lets a call run, as we say" : "lets nothing run";
    testIf(client === claude && SAMPLED.includes(how))(`a hook ${how} ${what}`, async () => assert.equal(await runsWith(client, BROKEN[how]), isRun));
  }
}

/** An installation over that of another program, which is gone. */
export function upgrades(client, { denied, ran, options }) {
  testIf(client === codex)("an installation replaces the hooks of an older program", async () => {
    const place = machine(client);
    const old = join(place.home, "old/hotl-rt");
    mkdirSync(dirname(old));
    copyFileSync(place.bin, old);
    assert.equal((await run(old, ["install", client.name], place)).code, 0);
    rmSync(old);
    await onloop(place, "install", client.name);
    const [result] = await lines(client, place, [denied], options);
    assert.ok(!ran(place.project), "the denied line did not run");
    assert.match(result, /onloop \(/);
    assert.doesNotMatch(await onloop(place, "doctor", client.name), /hotl-rt/);
    await onloop(place, "uninstall", client.name);
    await lines(client, place, [denied], options);
    assert.ok(ran(place.project), "nothing of either is left");
  });
}
