/** Whether there is something to do in a window that has just started. */

import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** What of ours may lie in a folder. */
const TRACES = [".hotl", ".ai/PROGRESS.md", ".tmp/hooked-sessions"];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether a folder has a record, tasks or sessions, or was a run's that works elsewhere: that is only known
 * in the state home. A few looks at the disk; nothing of ours is loaded for them.
 */
export async function isUsed(folder: string, env: Environment): Promise<boolean> {
  const home = stateHome(env);
  const found = await Promise.all([
    ...TRACES.map((trace) => stat(join(folder, trace)).then(() => true, () => false)),
    home === undefined ? false : hasRuns(join(home, "places", place(folder))),
  ]);
  return found.includes(true);
}

/** The folder in which a state home notes the runs of another folder, by the digest of its path. */
function place(folder: string): string {
  const path = folder.replaceAll("\\", "/").replace(/\/+$/, "");
  return createHash("sha256").update(path).digest("hex").slice(0, 32);
}

async function hasRuns(path: string): Promise<boolean> {
  return (await readdir(path).catch(() => [])).length > 0;
}

/** As the core finds it. */
function stateHome(env: Environment): string | undefined {
  const set = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  const [own, xdg, local, home] = ["ONLOOP_STATE_HOME", "XDG_STATE_HOME", "LOCALAPPDATA", "HOME"].map(set);
  if (own !== undefined) return own;
  if (xdg !== undefined) return join(xdg, "onloop");
  if (local !== undefined && process.platform === "win32") return join(local, "onloop", "state");
  return home === undefined ? undefined : join(home, ".local", "state", "onloop");
}
