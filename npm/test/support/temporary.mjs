// Temporary folders for tests, in surroundings that take no part in them.

import { accessSync, constants, existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What onloop, git or a client of a model looks for in every folder above a project. */
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
 * A new folder. It is in the system's folder for such, or, where that lies in a repository or below
 * somebody's configuration, in another one. Without any such place it is in the system's after all:
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
