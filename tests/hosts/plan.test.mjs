// `onloop plan` with the real clients: they draft in a worktree, findings continue their
// conversation, and only the approved file is left.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testIf } from "../../npm/test/support/all.mjs";
import { codex, run } from "./clients.mjs";
import { CLIENTS, repository } from "./conducted.mjs";

const DRAFT = "hotl-workflow-make-a-file.md";
const OUT = "hotl-workflow-planned.md";

const draft = (more) => `---
intent: Make a file
success_criteria: it is there
risk_level: low
---

## Steps

- [ ] **Step 1: Make it**
action: Make made.txt
${more}verify: sh check.sh
`;
const write = (text) => ({ run: `cat > ${DRAFT} <<'END'\n${text}END` });

for (const client of CLIENTS) {
  testIf(client === codex)(`${client.name} drafts a workflow and improves it`, async () => {
    const place = await repository(client);
    const good = draft("loop: until it is there\nmax_iterations: 3\n");
    const script = [write(draft("")), { say: "Drafted." }, write(good), { say: "Improved." }];
    const { code, stdout, stderr, heard } = await client.served(place, script, (place) => {
      return run("onloop", ["plan", "Make a file", "--agent", client.name, "--out", OUT], place);
    });
    assert.equal(code, 0, stderr);
    assert.equal(stdout, `${OUT}\n`);
    assert.equal(readFileSync(join(place.project, OUT), "utf8"), good);
    assert.match(stderr, /check {3}sh check\.sh\n {7}now {5}fails \(exit code 1\)\n/, stderr);
    // Only the same conversation contains the earlier text of the model.
    assert.equal(heard.turns, 3, JSON.stringify(heard));
    assert.match(heard.told.at(-1), /onloop found: line 9: error: .*`loop`/, JSON.stringify(heard));
    assert.ok(!existsSync(join(place.project, DRAFT)));
    assert.ok(!existsSync(join(place.project, "../.hotl-worktrees/project/hotl-plan-make-a-file")));
  });
}
