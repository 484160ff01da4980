/** Starts a program that outlives this one and its terminal, and interrupts another onloop. */

import { spawn } from "node:child_process";
import { hostname } from "node:os";
import { Failure } from "../failure.js";
import type { Asked } from "../host.js";
import { failure, is } from "./errors.js";
import { openStream } from "./files.js";
import { isGone } from "./holder.js";
import type { Interrupts } from "./interrupts.js";
import { command, environment, spawnFailure } from "./processes.js";
import type { Root } from "./root.js";

/** Two signals at once count as one. */
const BETWEEN_MS = 50;

/** Starts a program, and reports a failure within `wait_ms`. */
export async function launch(
  interrupts: Interrupts,
  root: Root,
  { argv, cwd: shownCwd, env_remove: envRemove, log, wait_ms: waitMs }: Asked<"launch">,
): Promise<void> {
  interrupts.check();
  const [program, words] = command({ argv });
  const env = environment({ env_remove: envRemove, env_set: {} });
  const cwd = root.resolve(shownCwd);
  const file = log === null ? undefined : await openStream(root, log, true);
  let ended: Error | { status: number | null } | undefined;
  let wake: (() => void) | undefined;
  const end = (how: typeof ended): void => {
    ended = how;
    wake?.();
  };
  try {
    const output = file?.fd ?? "ignore";
    const child = spawn(program, words, { cwd, env, detached: true, stdio: ["ignore", output, output] });
    child.unref();
    child.once("error", end);
    child.once("exit", (status) => end({ status }));
  } finally {
    await file?.close();
  }
  if (ended === undefined) await interrupts.pause(waitMs, (waiting) => (wake = waiting));
  interrupts.check();
  if (ended === undefined) return;
  if (ended instanceof Error) throw spawnFailure(ended, program, cwd, shownCwd);
  if (ended.status === 0) return;
  const how = ended.status === null ? "was ended" : `ended with exit code ${ended.status}`;
  throw new Failure("other", `\`${program}\` ${how}`);
}

/** Windows interrupts no process without a console. It ends with its programs, and its run counts as interrupted. */
async function endWithPrograms(pid: number): Promise<void> {
  const child = spawn("taskkill", ["/F", "/T", "/PID", String(pid)], { stdio: "ignore", windowsHide: true });
  const status = await new Promise((resolve) => child.once("error", resolve).once("exit", resolve));
  if (status !== 0) throw new Failure("denied", `process ${pid} cannot be ended`);
}

/** Interrupts another onloop of this machine; `now` interrupts it twice, which ends it at once. */
export async function interrupt({ process: wanted, now }: Asked<"interrupt">): Promise<void> {
  const { pid, host } = wanted;
  if (host !== hostname()) {
    throw new Failure("unsupported", `process ${pid} is on \`${host}\`, not on this machine`);
  }
  const hasEnded = new Failure("not_found", `process ${pid} has ended`);
  if (isGone(wanted)) throw hasEnded;
  if (process.platform === "win32") return endWithPrograms(pid);
  try {
    // A process in the background may ignore SIGINT, and an interactive agent gets it.
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if (is(error, "ESRCH")) throw hasEnded;
    throw failure(error, `process ${pid} cannot be interrupted`);
  }
  if (!now) return;
  await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
  // It may have ended already.
  if (!isGone(wanted)) process.kill(pid, "SIGTERM");
}
