/** Which documents are workflows. */

import type { Core } from "onloop";
import type { DocumentSelector } from "vscode";

/** Every document that may be a workflow. */
export const MARKDOWN: DocumentSelector = { language: "markdown" };

/**
 * Those that are workflows by their names. Only they have our layout: where Markdown has two, the editor asks
 * which of them is wanted, for every file.
 */
export const NAMED: DocumentSelector = ["**/hotl-workflow*.md", "**/*-workflow.md", "**/.ai/workflows/*.md"].map(
  (pattern) => ({ language: "markdown", pattern }),
);

/** Larger files than the core reads are not sent to it at every key. */
const LIMIT_UNITS = 4 * 1024 * 1024;

/** A folder whose Markdown files are all workflows. */
const FOLDER = /(^|[\\/])\.ai[\\/]workflows[\\/][^\\/]+\.md$/;
const FRONTMATTER = /^\uFEFF?---\s/;

/** Whether the core has to be asked what a Markdown document is: `isWorkflow` is false where this is. */
export function mayBeWorkflow(path: string, text: string): boolean {
  if (text.length > LIMIT_UNITS) return false;
  return /workflow[^\\/]*\.md$/.test(path) || FOLDER.test(path) || FRONTMATTER.test(text);
}

/**
 * Whether a Markdown document is shown as a workflow: by its name, by its folder, or because it
 * begins with frontmatter and is plainly one. A document about workflows is none.
 */
export function isWorkflow(core: Core, path: string, text: string): boolean {
  if (!mayBeWorkflow(path, text)) return false;
  if (core.classify(path, "") === "workflow") return true;
  if (FOLDER.test(path)) return true;
  return FRONTMATTER.test(text) && core.classify(path, text) === "workflow";
}
