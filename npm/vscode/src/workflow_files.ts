/** Which documents are workflows. */

import type { Core } from "onloop";

/** Larger files than the core reads are not sent to it at every key. */
const LIMIT_UNITS = 4 * 1024 * 1024;

/**
 * Whether a Markdown document is shown as a workflow: by its name, by its folder, or because it
 * begins with frontmatter and is plainly one. A document about workflows is none.
 */
export function isWorkflow(core: Core, path: string, text: string): boolean {
  if (text.length > LIMIT_UNITS) return false;
  if (core.classify(path, "") === "workflow") return true;
  if (/(^|[\\/])\.ai[\\/]workflows[\\/][^\\/]+\.md$/.test(path)) return true;
  return /^\uFEFF?---\s/.test(text) && core.classify(path, text) === "workflow";
}
