/** Decides which documents are workflows. */

import type { Core } from "onloop";
import type { DocumentSelector } from "vscode";

/** Selects all documents that may be workflows. */
export const MARKDOWN: DocumentSelector = { language: "markdown" };

/**
 * Selects workflows by name. Only they have our formatter, because the editor asks which one to use
 * for every file with two formatters.
 */
export const NAMED: DocumentSelector = ["**/hotl-workflow*.md", "**/*-workflow.md", "**/.ai/workflows/*.md"].map(
  (pattern) => ({ language: "markdown", pattern }),
);

/** Largest file that the core reads. */
const LIMIT_UNITS = 4 * 1024 * 1024;

/** A folder whose Markdown files are all workflows. */
const FOLDER = /(^|[\\/])\.ai[\\/]workflows[\\/][^\\/]+\.md$/;
const FRONTMATTER = /^\uFEFF?---\s/;

/** A fast test; if it is false, so is `isWorkflow`. */
export function mayBeWorkflow(path: string, text: string): boolean {
  if (text.length > LIMIT_UNITS) return false;
  return /workflow[^\\/]*\.md$/.test(path) || FOLDER.test(path) || FRONTMATTER.test(text);
}

/**
 * Whether a Markdown document is a workflow: by its name, by its folder, or by its frontmatter and content.
 * A document about workflows is not one.
 */
export function isWorkflow(core: Core, path: string, text: string): boolean {
  if (!mayBeWorkflow(path, text)) return false;
  if (core.classify(path, "") === "workflow") return true;
  if (FOLDER.test(path)) return true;
  return FRONTMATTER.test(text) && core.classify(path, text) === "workflow";
}
