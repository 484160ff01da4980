// Temporary folders that no repository or configuration surrounds.

import { accessSync, constants, existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Names that onloop, git or a client searches in every folder above a project. */
const FOUND_FROM_BELOW = [
  ".git",
  ".agentize.yaml",
  ".agentize.local.yaml",
  ".claude",
  ".codex",
  ".cursor",
  ".mcp.json",
  ".opencode",
  ".vscode",
  "AGENTS.md",
  "CLAUDE.md",
  "opencode.json",
];

/**
 * A new folder below the system's temporary folder. If that is inside a repository or below
 * a configuration, another parent is used. Without one, the temporary folder is used after all:
 * a home folder has most of these names, and on Windows temporary folders lie below it.
 */
export function temporaryFolder(prefix) {
  place ??= [tmpdir(), "/tmp", "/var/tmp"].find(isQuiet) ?? tmpdir();
  return mkdtempSync(join(place, prefix));
}

/** A new folder that is not in the system's folder for temporary files, as far as there is such a place. */
export function lastingFolder(prefix) {
  lasting ??= ["/var/tmp", tmpdir(), "/tmp"].find(isQuiet) ?? tmpdir();
  return mkdtempSync(join(lasting, prefix));
}

let place;
let lasting;

function isQuiet(candidate) {
  try {
    accessSync(candidate, constants.W_OK);
    return above(realpathSync(candidate)).every((folder) => !FOUND_FROM_BELOW.some((name) => existsSync(join(folder, name))));
  } catch {
    return false;
  }
}

/** A folder and every one above it. */
function above(folder) {
  const next = dirname(folder);
  return next === folder ? [folder] : [folder, ...above(next)];
}
