// Runs command lines in this process, because new processes are slow.

import { NodeHost, load } from "../../dist/index.js";

/** What a command line comes to in `cwd`, as a process would have it. */
export async function here(words, cwd) {
  const host = new NodeHost({ cwd, frozenMs: Date.parse("2026-03-20T21:23:15Z"), attended: false });
  const start = host.start(["onloop", ...words], { HOME: cwd, ONLOOP_STATE_HOME: `${cwd}.state` });
  const { exit, result, notes } = await load().capture(start, host);
  return { exit, stdout: result, stderr: notes };
}
