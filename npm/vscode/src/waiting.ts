/** Decisions that wait for a person: gates and questions of runs, and tool calls of agents. */

import type { CallCard } from "./board.js";
import { type Run, describe, label, waitingGate, waitsForPerson } from "./runs.js";

export interface Waiting {
  /** Identifies the question. */
  key: string;
  title: string;
  /** The question, on one line. */
  detail: string;
  /** When it began to wait, if known. */
  since: string | undefined;
  /** The command that shows the decision. */
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
      return "the run reached a limit";
    case "ask-verdict":
      return "the review did not pass";
    case "ask-interrupted":
      return `step ${advice.step} was interrupted`;
    default:
      return "Waiting for you";
  }
}
