// What must hold in every client alike.

import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { machine, onloop } from "./clients.mjs";

/** Lets the agent run these lines; what its shell said about each. */
export async function lines(client, place, list, options) {
  const ended = await client.session(place, list.map((run) => ({ run })), options);
  assert.equal(ended.code, 0, JSON.stringify(ended));
  assert.equal(ended.heard.results.length, list.length, JSON.stringify(ended));
  return ended.heard.results;
}

/**
 * `denied` is a line that we deny; `ran` looks whether it ran.
 *
 * @param {{ denied: string, ran: (project: string) => boolean, options?: object }} about
 */
export function guards(client, { denied, ran, options }) {
  const both = [denied, "mkdir allowed"];
  const made = (place) => existsSync(join(place.project, "allowed"));

  test("without hooks the stand-in really lets the agent run its lines", async () => {
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

/** For clients that can be told what a failed hook means. */
export function failsClosed(client) {
  test("a hook whose program is gone lets nothing run", async () => {
    const place = machine(client);
    await onloop(place, "install", client.name);
    rmSync(place.bin);
    await lines(client, place, ["mkdir made"]);
    assert.ok(!existsSync(join(place.project, "made")));
  });
}
