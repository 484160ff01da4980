/** Decides whether a new window needs the extension. */

import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Files of runs, tasks and sessions. */
const ONLOOP_FILES = [".hotl", ".ai/PROGRESS.md", ".tmp/hooked-sessions"];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether a folder has runs, tasks or sessions. The state home knows runs that work in other folders.
 * This does not load the core.
 */
export async function hasOnloopFiles(folder: string, env: Environment): Promise<boolean> {
  const home = stateHome(env);
  const found = await Promise.all([
    ...ONLOOP_FILES.map((file) => stat(join(folder, file)).then(() => true, () => false)),
    home === undefined ? false : hasRuns(join(home, "places", place(folder))),
  ]);
  return found.includes(true);
}

/** The name of the folder in the state home that lists the runs of `folder`: a digest of its path. */
function place(folder: string): string {
  const path = folder.replaceAll("\\", "/").replace(/\/+$/, "");
  return createHash("sha256").update(path).digest("hex").slice(0, 32);
}

async function hasRuns(path: string): Promise<boolean> {
  return (await readdir(path).catch(() => [])).length > 0;
}

/** The state home, found as in core. */
function stateHome(env: Environment): string | undefined {
  const set = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  const [own, xdg, local, home] = ["ONLOOP_STATE_HOME", "XDG_STATE_HOME", "LOCALAPPDATA", "HOME"].map(set);
  if (own !== undefined) return own;
  if (xdg !== undefined) return join(xdg, "onloop");
  if (local !== undefined && process.platform === "win32") return join(local, "onloop", "state");
  return home === undefined ? undefined : join(home, ".local", "state", "onloop");
}
