// The published types change only on purpose.

import assert from "node:assert/strict";
import { test } from "node:test";
import { difference, listing, written } from "../public-api.mjs";

test("the published types equal the files in `public-api`", () => {
  const advice = "if the change is meant: node npm/public-api.mjs --write";
  assert.deepEqual(difference(written(), listing()), [], advice);
});

test("removed and added lines are named", () => {
  assert.deepEqual(difference("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
  assert.deepEqual(difference("a\nb\n", "b\na\n"), ["the same lines in another order"]);
});
