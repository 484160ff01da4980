/** Starts a program that outlives this one. */

import { spawn } from "node:child_process";
import { Failure } from "../failure.js";
import type { Asked } from "../host.js";
import type { Interrupts } from "./interrupts.js";
import { command, spawnFailure } from "./processes.js";

/** Starts a program, and reports a failure within `waitMs`. */
export async function launch(
  interrupts: Interrupts,
  cwd: string,
  { argv, wait_ms: waitMs }: Asked<"launch">,
): Promise<void> {
  interrupts.check();
  const [program, words] = command({ argv });
  const child = spawn(program, words, { cwd, detached: true, stdio: "ignore" });
  child.unref();
  let ended: Error | { status: number | null } | undefined;
  let wake: (() => void) | undefined;
  const end = (how: typeof ended): void => {
    ended = how;
    wake?.();
  };
  child.once("error", end);
  child.once("exit", (status) => end({ status }));
  await interrupts.pause(waitMs, (waiting) => (wake = waiting));
  interrupts.check();
  if (ended === undefined) return;
  if (ended instanceof Error) throw spawnFailure(ended, program, cwd, ".");
  if (ended.status === 0) return;
  const how = ended.status === null ? "was ended" : `ended with exit code ${ended.status}`;
  throw new Failure("other", `\`${program}\` ${how}`);
}
