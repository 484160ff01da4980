// `ONLOOP_TEST_NATIVE=…/release/onloop npm run bench`: the cost of calls, compared with the native program in
// the same run. Each number is the best of many.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "./dist/index.js";

const core = load();
const PATH = "hotl-workflow-x.md";
const top = mkdtempSync(join(tmpdir(), "onloop-bench-"));

/** Milliseconds of the quickest of `rounds`. */
function best(rounds, work) {
  let least = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    work();
    least = Math.min(least, performance.now() - start);
  }
  return least;
}

/** A typical file. */
function realistic(steps) {
  const endings = [
    "loop: until the tests pass\nmax_iterations: 4\nverify: cargo test -p store -- --nocapture\n",
    "loop: false\nverify:\n  - type: shell\n    command: cargo test -p store\n  - type: artifact\n    path: docs/store.md\n    assert:\n      kind: contains\n      value: \"alias\"\n",
    "loop: false\nverify: ! grep -rn 'old_name' src\ngate: human\n",
  ];
  const text = ["---\nintent: Replace the session store\nsuccess_criteria:\n  - Sessions survive a restart\nrisk_level: medium\n---\n"];
  for (let number = 1; number <= steps; number += 1) {
    text.push(`\n- [ ] **Step ${number}: Move part ${number} behind the cache**\naction: Update \`src/store.rs\` and its callers so that reads go through the cache; keep the old path as an alias.\n${endings[number % 3]}`);
  }
  return text.join("");
}

const say = (what, value) => console.log(`${what.padEnd(58)} ${value}`);
const us = (ms) => `${(ms * 1000).toFixed(1)} µs`;

say("a call with next to nothing in it (classify)", us(best(50, () => {
  for (let n = 0; n < 1000; n += 1) core.classify(PATH, "");
}) / 1000));
for (const steps of [1, 22]) {
  const text = realistic(steps);
  say(`lint, ${steps} steps, ${text.length} bytes`, us(best(500, () => core.lint(PATH, text))));
}
const record = core.begin(PATH, realistic(1), { at_ms: 0 });
say("next", us(best(500, () => core.next(record))));
say("apply", us(best(500, () => core.apply(record, 0, { event: "step_started", step: 1 }))));
const call = { tool: "Bash", cwd: "/srv/repo", input: { command: "git status && ls -l | grep x" } };
say("decide about three commands", us(best(500, () => core.decide(call))));

const native = process.env.ONLOOP_TEST_NATIVE;
if (native) {
  const large = realistic(6000);
  const path = join(top, "hotl-workflow-large.md");
  writeFileSync(path, large);
  const lint = (times) => best(1, () => {
    if (spawnSync(native, ["lint", ...Array(times).fill(path)]).status !== 0) throw new Error(`${native} does not lint`);
  });
  // In turns, so that the load of the machine affects both. The cost of a process is subtracted.
  const least = { once: Infinity, often: Infinity, here: Infinity };
  for (let round = 0; round < 25; round += 1) {
    least.once = Math.min(least.once, lint(1));
    least.often = Math.min(least.often, lint(6));
    least.here = Math.min(least.here, best(3, () => core.lint(PATH, large)));
  }
  const natively = (least.often - least.once) / 5;
  const rate = (ms) => `${(large.length / ms / 1000).toFixed(0)} MB/s`;
  const ratio = (natively / least.here).toFixed(2);
  say("parse and lint of a large file, natively and here", `${rate(natively)}, ${rate(least.here)} (${ratio})`);
}

const bin = fileURLToPath(new URL("bin/onloop.mjs", import.meta.url));
const start = (...words) => best(30, () => spawnSync(process.execPath, words, { env: { ...process.env, ONLOOP_BINARY: "" } }));
const nothing = start("-e", "0");
for (const words of [["--version"], ["--help"]]) {
  const ms = start(bin, ...words);
  say(`${words[0]}, and as a multiple of \`node -e 0\``, `${ms.toFixed(0)} ms, ${(ms / nothing).toFixed(2)}`);
}
rmSync(top, { recursive: true });
