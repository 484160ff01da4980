// Tests that only `./test --all` runs. Other runs count them as skipped.

import { test } from "node:test";

/** Whether every test runs. To write documents, all of them are needed. */
export const isLong = process.env.ONLOOP_TEST_ALL !== undefined || process.env.ONLOOP_WRITE_DOCUMENTS !== undefined;

/** `test`, which does nothing but count without `--all`. */
export function testWithAll(title, act) {
  test(title, { skip: isLong ? false : "only with --all" }, act);
}

/** `test` for a case of the sample that every run has, else `testWithAll`. */
export const testIf = (isSampled) => (isSampled ? test : testWithAll);
