// Completion, hover and lenses: what is offered where, by the tables of the core.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load as loadCore } from "onloop";
import { cursor, load } from "./support/modules.mjs";

const core = loadCore();
const fields = core.fields();
const { complete, explain } = await load("completion");
const { isWorkflow, mayBeWorkflow } = await load("workflow_files");

const FRONT = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\n";
const STEP = "- [ ] **Step 1: One**\n";

function offered(marked) {
  const { text, offset } = cursor(marked);
  const found = complete(fields, text, core.outline("hotl-workflow-a.md", text), offset);
  return found.map(({ label }) => label).join(" ");
}

test("what can be written is offered where it can be written", () => {
  const table = [
    // A whole file, and then its parts.
    ["|", "workflow"],
    ["---\nintent: a\nrisk|\n---\n\n- [ ] **Step 1: A**", /^success_criteria risk_level auto_approve .*policy_profile$/],
    ["---\nrisk_level: |\n---\n- [ ] **Step 1: A**\n", "low medium high"],
    ["---\nrisk_level: lo|w\n---\n- [ ] **Step 1: A**\n", "low medium high"],
    ["---\nintent: |\n---\n- [ ] **Step 1: A**\n", ""],
    ["---\nsuccess_criteria:\n  - in| a list\n---\n- [ ] **Step 1: A**\n", ""],
    // Fields of a step: those that are not there yet.
    [`${FRONT}${STEP}|`, "action loop max_iterations verify gate Step 2"],
    [`${FRONT}${STEP}action: do\nlo|\nverify: make test\n`, "loop max_iterations gate"],
    [`${FRONT}${STEP}loop: |`, "false until"],
    [`${FRONT}${STEP}gate: hu|`, "human auto"],
    [`${FRONT}${STEP}action: |`, ""],
    [`${FRONT}${STEP}action: |\n  gate: human\n`, ""],
    [`${FRONT}${STEP}action: some\n  ga|\n`, ""],
    // Checks: an object, a list of them, and what is below.
    [`${FRONT}${STEP}verify:\n  |\n`, "type command expect timeout cwd env shell network url check prompt path assert"],
    [`${FRONT}${STEP}verify:\n  type: |\n`, "shell browser human-review artifact"],
    [`${FRONT}${STEP}verify:\n  type: shell\n  |\n`, "command expect timeout cwd env shell network"],
    [`${FRONT}${STEP}verify:\n  - npm test\n  - type: artifact\n    |\n`, "path assert"],
    [`${FRONT}${STEP}verify:\n  - type: shell\n    command: x\n  - type: browser\n    |\n    url: http://a\n  - type: shell`, "check"],
    [`${FRONT}${STEP}verify:\n  - ty|\n`, /^type /],
    [`${FRONT}${STEP}verify:\n  type: artifact\n  assert:\n    |\n`, "kind value"],
    [`${FRONT}${STEP}verify:\n  type: artifact\n  assert:\n    kind: |\n`, "exists contains matches-glob"],
    [`${FRONT}${STEP}verify:\n  type: shell\n  env:\n    |\n`, ""],
    [`${FRONT}${STEP}verify: npm |\n`, ""],
    // Steps are numbered by their place. Nothing is offered in prose, scripts and headings.
    [`${FRONT}${STEP}action: do\n\n- [|\n\n### 2. Two\naction: do\n`, "Step 2"],
    [`${FRONT}${STEP}action: do\n\n\`\`\`sh\n|\n\`\`\`\n`, ""],
    [`${FRONT}Some prose about st|eps\n`, ""],
    [`${FRONT}\n|`, "Step 1"],
  ];
  for (const [marked, expected] of table) {
    const found = offered(marked);
    if (expected instanceof RegExp) assert.match(found, expected, marked);
    else assert.equal(found, expected, marked);
  }
});

test("what is accepted lints as its table says", () => {
  const insert = (marked, label) => {
    const { text, offset } = cursor(marked);
    const found = complete(fields, text, core.outline("hotl-workflow-a.md", text), offset);
    const { snippet, span } = found.find((proposal) => proposal.label === label);
    const plain = snippet.replace(/\$\{\d+\|([^,|]*)[^}]*\}/g, "$1").replace(/\$\{\d+:([^}]*)\}/g, "$1").replace(/\$\d/g, "");
    return text.slice(0, span.start) + plain + text.slice(span.end);
  };
  const lint = (text) => core.lint("hotl-workflow-a.md", text).map(({ code }) => code);
  const whole = insert("|", "workflow").replace("command", "make test");
  assert.deepEqual(lint(whole), []);
  const second = insert(`${whole}\nst|`, "Step 2").replace("verify: command", "verify: make test");
  assert.deepEqual(lint(second), []);
  assert.deepEqual(lint(insert(`${whole}gate: |\n`, "human")), []);
});

test("a field is explained with the words of the table", () => {
  const { text, offset } = cursor(`${FRONT}${STEP}action: do\nlo|op: false\n`);
  const { markdown, span } = explain(fields, text, core.outline("x.md", text), offset);
  assert.equal(text.slice(span.start, span.end), "loop");
  assert.match(markdown, /^\*\*loop\*\*\n\n.*checks decide/);
  for (const marked of [`${FRONT}${STEP}action: gate| the water\n`, `${FRONT}${STEP}lo|st: x\n`, "nothing|"]) {
    const { text, offset } = cursor(marked);
    assert.equal(explain(fields, text, core.outline("x.md", text), offset), undefined, marked);
  }
});

test("workflows are told from documents about them", () => {
  const body = `${FRONT}${STEP}action: do\nloop: false\n`;
  for (const [path, text, expected] of [
    ["/a/hotl-workflow-x.md", "", true],
    ["/a/docs/plans/2026-03-20-x-workflow.md", "", true],
    ["/a/.ai/workflows/TASK-01.md", "", true],
    ["/a/plan.md", body, true],
    ["/a/format.md", `# About\n\n${body}`, false],
    ["/a/README.md", "# Readme", false],
    ["/a/post.md", "---\ntitle: A post\n---\n\nWords.\n", false],
    ["/a/hotl-workflow-x.md", "x".repeat(5_000_000), false],
  ]) {
    assert.equal(isWorkflow(core, path, text), expected, path);
    // Where the core is not asked it would have said no.
    if (core.classify(path, "") === "workflow" && text.length < 1_000_000) assert.ok(mayBeWorkflow(path, text), path);
  }
});

test("a document that cannot be a workflow does not need the core", () => {
  const table = [
    ["/a/README.md", "# Readme\n", false],
    ["/a/workflow/notes.md", "# Notes\n", false],
    ["/a/hotl-workflow-x.md", "", true],
    ["/a/2026-03-20-x-workflow.md", "", true],
    ["/a/.ai/workflows/TASK-01.md", "", true],
    ["/a/plan.md", "\uFEFF---\nintent: a\n", true],
    ["/a/hotl-workflow-x.md", "x".repeat(5_000_000), false],
  ];
  for (const [path, text, expected] of table) assert.equal(mayBeWorkflow(path, text), expected, path);
});
