/** The code lenses of a workflow. */

import type { Outline, RunView } from "onloop";
import { type Run, describe, isDriven, isFinishable, isFinished, isResumable, isStoppable, waitingGate } from "./runs.js";

export interface Lens {
  /** The lens is above the line of this offset. */
  offset: number;
  title: string;
  command: string;
  arguments: unknown[];
}

/** `runs` are the runs of the file, newest first; `view` is that of the newest. */
export function lenses(outline: Outline, file: string, runs: Run[], view: RunView | undefined): Lens[] {
  const unfinished = runs.find((run) => !isFinished(run));
  const newest = unfinished ?? runs[0];
  const found: Lens[] = [];
  const add = (offset: number, title: string, command: string, ...more: unknown[]): void => {
    found.push({ offset, title, command, arguments: more });
  };
  add(0, "$(play) Run", "onloop.run", file);
  if (newest !== undefined) {
    const id = newest.entry.run_id;
    if (newest.entry.status === "blocked" && !isDriven(newest)) add(0, "$(debug-rerun) Retry…", "onloop.retry", id);
    else if (isResumable(newest)) add(0, "$(debug-continue) Resume", "onloop.resume", id);
    if (isStoppable(newest, process.pid)) add(0, "$(debug-stop) Stop", "onloop.stop", id);
    if (isFinishable(newest) && isFinished(newest)) add(0, "$(git-merge) Merge…", "onloop.finish", id);
    add(0, `$(output) ${describe(newest)}`, "onloop.report", id);
  }
  const gate = unfinished && waitingGate(unfinished);
  for (const step of outline.steps) {
    const { start } = step.span;
    const state = view?.steps.find(({ number }) => number === step.number);
    if (newest !== undefined && state !== undefined && state.status !== "pending") {
      const title = step.number === gate ? "$(bell-dot) Waiting for you" : stepTitle(state);
      add(start, title, "onloop.report", newest.entry.run_id);
    }
    if (unfinished !== undefined && step.number === gate) {
      const id = unfinished.entry.run_id;
      add(start, "$(check) Approve…", "onloop.gate", id, "approved");
      add(start, "$(close) Reject…", "onloop.gate", id, "rejected");
    }
  }
  return found;
}

function stepTitle({ status, attempts, gate_result: gate }: RunView["steps"][number]): string {
  const tries = attempts > 1 ? `, ${attempts} attempts` : "";
  switch (status) {
    case "done":
      return `$(pass) ${capitalized(gate ?? "done")}${tries}`;
    case "failed":
      return `$(error) Failed${tries}`;
    case "blocked":
      return `$(error) Blocked${tries}`;
    case "in_progress":
      return `$(sync) Running${tries}`;
    case "pending":
      return "";
  }
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
