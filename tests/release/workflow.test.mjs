// Each of these workflows would fail on GitHub, and fails here as well.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { perform } from "./workflow.mjs";

const top = mkdtempSync(join(tmpdir(), "onloop-workflow-"));
after(() => rmSync(top, { recursive: true, force: true }));
const PIN = "0".repeat(40);
let count = 0;

/** Runs `jobs` in a repository with these files, and returns the log. */
function performed(jobs, more = {}, files = {}) {
  const folder = join(top, String((count += 1)));
  mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  writeFileSync(join(folder, "a.yml"), JSON.stringify({ name: "a", on: "push", jobs, ...more }));
  const said = [];
  const world = {
    repository: folder,
    work: join(folder, "jobs"),
    artifacts: join(folder, "artifacts"),
    platform: "linux-x64",
    contexts: { github: { ref: "refs/heads/main" } },
    attested: new Map(),
    environment: () => ({ PATH: process.env.PATH, SAID: join(folder, "said") }),
    log: (line) => said.push(line),
  };
  perform("a.yml", world);
  return { said, folder };
}
const job = (...steps) => ({ "runs-on": "ubuntu-22.04", steps });
const say = (word) => ({ run: `echo ${word} >> "$SAID"` });

test("jobs run after their needs, steps in their order", () => {
  const { folder } = performed({ b: { needs: "a", ...job(say("third")) }, a: job(say("first"), say("second")) });
  assert.equal(readFileSync(join(folder, "said"), "utf8"), "first\nsecond\nthird\n");
});

test("a job for another system runs no script and leaves a program for that system", () => {
  const upload = { uses: `actions/upload-artifact@${PIN}`, with: { name: "${{ matrix.platform }}", path: "p", "if-no-files-found": "error" } };
  const matrix = { include: [{ platform: "darwin-arm64", runner: "macos-15" }] };
  const steps = [{ run: "exit 1", shell: "bash" }, upload];
  const { said, folder } = performed({ a: { strategy: { matrix }, "runs-on": "${{ matrix.runner }}", steps } });
  assert.equal(said[0], "a (darwin-arm64), step 1 (run): left out, this machine is linux-x64");
  assert.match(readFileSync(join(folder, "artifacts/darwin-arm64/p"), "utf8"), /darwin-arm64/);
});

const uses = (name, given) => ({ uses: `actions/${name}@${PIN}`, with: given });
const upload = (given) => uses("upload-artifact", { name: "x", path: "f", "if-no-files-found": "error", ...given });
const REFUSED = [
  ["a script that fails", { a: job({ run: "echo why; exit 3" }) }, "a, step 1 (run): exit code 3\n  | why"],
  ["a script whose first command fails", { a: job({ run: "false\ntrue" }) }, "a, step 1 (run): exit code 1\n  | "],
  ["an action by its tag", { a: job({ uses: "actions/checkout@v4" }) }, "a, step 1 (actions/checkout@v4): an action is named by the digest of its commit; found `actions/checkout@v4`"],
  ["an action without a fake", { a: job(uses("cache", {})) }, `a, step 1 (actions/cache@${PIN}): there is no fake for \`actions/cache\``],
  ["a setting that the stand-in does not know", { a: job(uses("setup-node", { "always-auth": "true" })) }, `a, step 1 (actions/setup-node@${PIN}): \`always-auth\` is not known here`],
  ["an expression without a value", { a: job({ run: "${{ secrets.TOKEN }}" }) }, "a, step 1 (run): `secrets.TOKEN` has no value here"],
  ["an expression that is none", { a: job({ run: "${{ github. }}" }) }, /^a, step 1 \(run\): `github\.`: /],
  ["a key that is not known", { a: job({ run: "true", "continue-on-error": true }) }, "a, step 1 (run): `continue-on-error` is not known here"],
  ["a script for PowerShell", { a: { "runs-on": "windows-2022", steps: [{ run: "true" }] } }, "a, step 1 (run): on Windows a script is for PowerShell unless it says `shell: bash`"],
  ["a checkout that keeps the token", { a: job(uses("checkout", {})) }, `a, step 1 (actions/checkout@${PIN}): a checkout keeps the token for every script that follows; set \`persist-credentials: false\``],
  ["an artifact that does not exist", { a: job(upload()) }, `a, step 1 (actions/upload-artifact@${PIN}): no file at \`f\``],
  ["an artifact that may be missing", { a: job(upload({ "if-no-files-found": "warn" })) }, `a, step 1 (actions/upload-artifact@${PIN}): an artifact that is missing must be an error: \`if-no-files-found: error\``],
  ["an artifact of hidden files", { a: job({ run: "mkdir f; touch f/.a" }, upload()) }, `a, step 2 (actions/upload-artifact@${PIN}): no file in \`f\` that is not hidden`],
  ["an artifact of that name twice", { a: job({ run: "touch f" }, upload(), upload()) }, `a, step 3 (actions/upload-artifact@${PIN}): an artifact \`x\` is there already`],
  ["an artifact that is asked for by a wrong name", { a: job(uses("download-artifact", { name: "y" })) }, `a, step 1 (actions/download-artifact@${PIN}): there is no artifact \`y\``],
  ["an attestation without permission", { a: job(uses("attest-build-provenance", { "subject-path": "f/*" })) }, `a, step 1 (actions/attest-build-provenance@${PIN}): the job needs the permission \`id-token: write\``],
];
for (const [name, jobs, message] of REFUSED) {
  test(`${name} is refused`, () => assert.throws(() => performed(jobs), { message }));
}

test("a program in an artifact loses its permission to run", () => {
  const steps = [{ run: "touch f; chmod 755 f" }, upload(), uses("download-artifact", { name: "x", path: "g" }), { run: "test -f g/f -a ! -x g/f" }];
  performed({ a: job(...steps) });
});

test("a step runs if its condition holds, and the steps of an action in this repository get its inputs", () => {
  const action = "inputs: { word: {} }\nruns:\n  steps:\n    - run: echo ${{ inputs.word }} >> \"$SAID\"\n      shell: bash\n";
  const ifs = [{ ...say("linux"), if: "runner.os == 'Linux'" }, { ...say("mac"), if: "runner.os == 'macOS'" }];
  const local = { uses: "./say", with: { word: "${{ github.ref == 'refs/heads/main' }}" } };
  const { folder } = performed({ a: job(...ifs, local) }, {}, { "say/action.yml": action });
  assert.equal(readFileSync(join(folder, "said"), "utf8"), "linux\ntrue\n");
});

test("every workflow, also one that is not rehearsed, names actions by digests and keeps no token", () => {
  const folder = fileURLToPath(new URL("../../.github", import.meta.url));
  let count = 0;
  for (const name of readdirSync(folder, { recursive: true }).filter((name) => /^(workflows|actions)\/.*\.yml$/.test(name))) {
    const { jobs, runs } = parse(readFileSync(join(folder, name), "utf8"));
    for (const { steps = [] } of Object.values(jobs ?? { runs })) {
      for (const step of steps.filter(({ uses }) => uses !== undefined && !uses.startsWith("./"))) {
        assert.match(step.uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/, name);
        if (step.uses.startsWith("actions/checkout@")) assert.equal(step.with?.["persist-credentials"], false, name);
        count += 1;
      }
    }
  }
  assert.ok(count > 10, `${count} actions`);
});
