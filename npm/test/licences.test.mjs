// Which licences the packages that we build with may have.

import assert from "node:assert/strict";
import { test } from "node:test";
import { refused } from "../licences.mjs";

const locked = (entry) => ({ packages: { "": {}, "node_modules/a/node_modules/@b/c": entry } });

test("unlisted and missing terms are refused", () => {
  assert.deepEqual(refused(locked({ license: "MIT" })), []);
  assert.deepEqual(refused(locked({ license: "GPL-3.0" })), ["@b/c: its licence is `GPL-3.0`"]);
  assert.deepEqual(refused(locked({})), ["@b/c: its licence is not named"]);
  assert.deepEqual(refused(locked({ link: true })), []);
});

test("the terms of tools apply only to tools", () => {
  assert.deepEqual(refused(locked({ license: "Artistic-2.0", dev: true })), []);
  assert.deepEqual(refused(locked({ license: "Artistic-2.0" })), ["@b/c: its licence is `Artistic-2.0`"]);
  const proprietary = { license: "SEE LICENSE IN LICENSE.txt", dev: true };
  assert.deepEqual(refused(locked(proprietary)), ["@b/c: its licence is `SEE LICENSE IN LICENSE.txt`"]);
});
