// GitHub's parser reads compiled workflows and our action. The documents are those that
// the program writes; a test of it compares them whole.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { githubParser } from "./support/github-parser.mjs";
import { temporaryFolder } from "./support/temporary.mjs";

const top = join(import.meta.dirname, "../..");
const compiled = join(top, "tests/corpus/compiled");
const github = await githubParser();
const read = (name) => readFileSync(join(compiled, name), "utf8");

test("GitHub accepts every compiled workflow", async () => {
  const names = readdirSync(compiled);
  assert.ok(names.length >= 3, `${names}`);
  for (const name of names) {
    const { errors, jobs } = await github.workflow(read(name));
    assert.deepEqual(errors, [], name);
    for (const [at, job] of jobs.entries()) {
      assert.equal(job.type, "job", name);
      assert.equal(job.needs?.length ?? 0, at === 0 ? 0 : 1, `${name}: ${job.id} is in a chain`);
      const uses = job.steps.flatMap((step) => ("uses" in step ? [step.uses.value] : []));
      assert.ok(uses.every((used) => /@[0-9a-f]{40}$/.test(used)), `${name}: ${uses}`);
      const waits = job.environment !== undefined;
      assert.equal(waits, job.id.value.startsWith("gate-"), `${name}: ${job.id}`);
    }
  }
});

test("GitHub accepts our workflows and their shared action", async () => {
  const folder = join(top, ".github/workflows");
  for (const name of readdirSync(folder)) {
    const { errors, jobs } = await github.workflow(readFileSync(join(folder, name), "utf8"));
    assert.deepEqual(errors, [], name);
    assert.ok(jobs.length > 0, name);
  }
  assert.deepEqual(github.action(readFileSync(join(top, ".github/actions/setup/action.yml"), "utf8")), []);
});

test("the parser reports errors", async () => {
  const good = read("github.yml");
  for (const [from, to, expected] of [
    ["runs-on:", "runs-in:", /runs-in/],
    ["needs: step-1", "needs: step-9", /step-9/],
    ["github.token", "githob.token", /githob/],
  ]) {
    assert.ok(good.includes(from));
    const { errors } = await github.workflow(good.replace(from, to));
    assert.match(errors.join("\n"), expected);
  }
  assert.match(github.action("name: x\nruns:\n  using: nothing\n").join("\n"), /nothing|using|description/);
});

const action = readFileSync(join(top, "action.yml"), "utf8");

test("GitHub accepts the action, which installs the version of this package", () => {
  assert.deepEqual(github.action(action), []);
  const { version } = JSON.parse(readFileSync(join(top, "npm/package.json"), "utf8"));
  assert.match(action, new RegExp(`default: "${version.replaceAll(".", "\\.")}"`));
});

test("the action installs a version and passes arguments unchanged", (t) => {
  const scripts = [...action.matchAll(/^ {6}run: \|\n((?: {8}.*\n|\n)+)/gm)].map(([, script]) =>
    script.replaceAll(/^ {8}/gm, ""),
  );
  assert.equal(scripts.length, 2);
  const folder = temporaryFolder("onloop-action-");
  t.after(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const name of ["npm", "onloop"]) {
    const file = join(bin, name);
    writeFileSync(file, `#!/bin/sh\nprintf '%s' "${name}"; printf ' [%s]' "$@"; echo\n`);
    chmodSync(file, 0o755);
  }
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    VERSION: "1.2.3",
    WORDS: "lint *.md $(touch bad); --deny-warnings",
  };
  const said = scripts.map((script) =>
    execFileSync("bash", ["-e", "-c", script], { cwd: folder, env, encoding: "utf8" }),
  );
  assert.equal(said[0], "npm [install] [--global] [--no-fund] [--no-audit] [onloop@1.2.3]\n");
  assert.equal(said[1], "onloop [lint] [*.md] [$(touch] [bad);] [--deny-warnings]\n");
  assert.deepEqual(readdirSync(folder), ["bin"]);
});
