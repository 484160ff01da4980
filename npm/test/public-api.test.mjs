// What the package offers to TypeScript changes on purpose.

import assert from "node:assert/strict";
import { test } from "node:test";
import { difference, listing, written } from "../public-api.mjs";

test("the package offers what is written down", () => {
  const advice = "if the change is meant: node npm/public-api.mjs --write";
  assert.deepEqual(difference(written(), listing()), [], advice);
});

test("what went and what came is named", () => {
  assert.deepEqual(difference("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
  assert.deepEqual(difference("a\nb\n", "b\na\n"), ["the same lines in another order"]);
});
