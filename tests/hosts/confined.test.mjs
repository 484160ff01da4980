// Real clients inside the sandbox: they work, and access to other paths fails. No rule
// denies it, because the lines are in scripts that no hook reads.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { testIf } from "../../npm/test/support/all.mjs";
import { claude, codex, opencode, run, without } from "./clients.mjs";
import { conducted, repository, used } from "./conducted.mjs";

/** Tries to read and change files outside, and prints what worked. */
const ESCAPE = `#!/bin/sh
cat "$HOME/.ssh/id_ed25519" && echo read-a-key
cat "$HOME"/.local/state/onloop/runs/*/ledger.jsonl && echo saw-the-ledger
echo evil >> "$HOME/.bashrc"
main=$(dirname "$(git rev-parse --path-format=absolute --git-common-dir)")
echo evil >> "$main/check.sh"
echo evil > "$main/.git/hooks/post-commit" && echo planted-a-hook
echo '{}' > "$HOME/.claude/settings.json"
echo made > made.txt
exit 0
`;

/** The sandboxes, and a machine with only that one. */
const WAYS = [
  ["bubblewrap", (place) => place],
  ["landlock", (place) => without(place, "bwrap")],
];

for (const client of [claude, codex, opencode]) {
  for (const [by, prepare] of WAYS) {
    const isSampled = client === (by === "landlock" ? codex : claude);
    testIf(isSampled)(`${client.name} works inside the sandbox of ${by}, and cannot leave it`, async () => {
      const place = prepare(await repository(client));
      mkdirSync(join(place.home, ".ssh"), { recursive: true });
      writeFileSync(join(place.home, ".ssh/id_ed25519"), "hidden-7f3a\n");
      writeFileSync(join(place.home, ".bashrc"), "mine\n");
      writeFileSync(join(place.project, "escape.sh"), ESCAPE);
      const git = "git add -A && git -c user.name=me -c user.email=me@example.org commit -qm more";
      assert.equal((await run("sh", ["-c", git], place)).code, 0);
      const script = used([{ run: "sh escape.sh" }, { say: "It is made." }]);
      const { code, summary, heard, told } = await conducted(client, place, script, "--confine", "on");
      assert.equal(code, 0, told);
      assert.equal(readFileSync(join(summary.execution_root, "made.txt"), "utf8"), "made\n", told);
      const said = heard.results.join("\n");
      assert.doesNotMatch(said, /hidden-7f3a|read-a-key|saw-the-ledger|planted-/, told);
      // Bubblewrap takes what is written to a hidden home, and throws it away.
      assert.equal(readFileSync(join(place.home, ".bashrc"), "utf8"), "mine\n");
      assert.doesNotMatch(readFileSync(join(place.project, "check.sh"), "utf8"), /evil/);
      assert.ok(!existsSync(join(place.project, ".git/hooks/post-commit")), told);
      // The file may not exist yet.
      assert.ok(!existsSync(join(place.home, ".claude/settings.json")), told);
      const held = summary.confined.map(({ worker, by }) => `${worker} ${by}`);
      assert.deepEqual([...new Set(held)], [`agent ${by}`, `check ${by}`], told);
    });
  }
}
