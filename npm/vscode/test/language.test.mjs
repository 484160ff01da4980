// Which documents are workflows.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load as loadCore } from "onloop";
import { load } from "./support/modules.mjs";

const core = loadCore();
const { isWorkflow, mayBeWorkflow } = await load("workflow_files");

const FRONT = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\n";
const STEP = "- [ ] **Step 1: One**\n";

test("workflows differ from documents about them", () => {
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
    // If the fast test is false, so is the result of core.
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
