// What the package offers to TypeScript changes on purpose.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { difference, listing } from "../public-api.mjs";

test("the package offers what is written down", () => {
  const written = readFileSync(new URL("../public-api.d.ts", import.meta.url), "utf8");
  const advice = "if the change is meant: node npm/public-api.mjs --write";
  assert.deepEqual(difference(written.replaceAll("\r\n", "\n"), listing()), [], advice);
});

test("what went and what came is named", () => {
  assert.deepEqual(difference("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
  assert.deepEqual(difference("a\nb\n", "b\na\n"), ["the same lines in another order"]);
});
