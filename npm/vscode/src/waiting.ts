/** What waits for a person: runs at their gates, and calls of agents that nobody has decided about. */

import type { CallCard } from "./board.js";
import { type Run, describe, label, waitingGate, waitsForPerson } from "./runs.js";

export interface Waiting {
  /** The same as long as it is the same question. */
  key: string;
  title: string;
  /** What is asked, on one line. */
  detail: string;
  /** Since when, where that is known. */
  since: string | undefined;
  /** The command that leads to the decision, and what it is told. */
  command: "onloop.gate" | "onloop.resume" | "onloop.call";
  argument: string;
  about: { run: Run } | { call: CallCard };
}

/** Runs first, each newest first; then calls, the oldest first. */
export function waiting(runs: readonly Run[], calls: readonly CallCard[]): Waiting[] {
  const asking = runs.filter(waitsForPerson).map((run): Waiting => {
    const { run_id: id, last_update: since } = run.entry;
    const gate = waitingGate(run);
    const step = run.advice?.step;
    return {
      key: `${id} ${run.advice?.action} ${step}`,
      title: label(run),
      detail: gate === undefined ? question(run) : describe(run),
      since,
      command: gate === undefined ? "onloop.resume" : "onloop.gate",
      argument: id,
      about: { run },
    };
  });
  const deferred = calls.map((call): Waiting => ({
    key: `call ${call.id} ${call.since}`,
    title: call.tool,
    detail: call.target.split("\n")[0] ?? "",
    since: call.since,
    command: "onloop.call",
    argument: call.id,
    about: { call },
  }));
  return [...asking, ...deferred];
}

function question({ advice }: Run): string {
  switch (advice?.action) {
    case "ask-budget":
      return "a bound of the run is reached";
    case "ask-verdict":
      return "a review has found something";
    case "ask-interrupted":
      return `step ${advice.step} was interrupted; was it done?`;
    default:
      return "waits for you";
  }
}
