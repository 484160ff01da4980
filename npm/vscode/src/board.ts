/** Sessions and calls of this machine, from `onloop session list --everywhere --json`. */

import type { Core } from "onloop";
import { runProgram } from "./run_program.js";
import { EXIT } from "./program_result.js";
import { age } from "./runs.js";

/** A hands-off session. */
export interface SessionCard {
  id: string;
  folder: string;
  status: string;
  activity: "waits" | "unreadable" | "limited" | "quiet" | "working" | "ended";
  /** Details of `activity`; may be empty. */
  now: string;
  workflow: string;
  goal: string;
  host: string | null;
  run_id: string | null;
  issue: number | null;
  issue_url: string | null;
  pull_request: number | null;
  pull_request_url: string | null;
  continued: number;
  reason: string | null;
  calls: number;
  last: { at: string; text: string } | null;
  used: string | null;
  resume: string | null;
  changed_at: string | null;
}

/** A tool call that waits for a person. */
export interface CallCard {
  id: string;
  session: string;
  folder: string;
  tool: string;
  target: string;
  /** Whether `target` is complete. A person can allow only a complete call. */
  complete: boolean;
  reason: string;
  since: string;
}

export interface Board {
  sessions: SessionCard[];
  calls: CallCard[];
}

/** Reads the sessions and calls of all folders; throws if that fails. */
export async function readBoard(core: Core, folder: string): Promise<Board> {
  const { exit, result, notes } = await runProgram(core, { folder, argv: ["session", "list", "--everywhere", "--json"] });
  if (exit !== EXIT.done) throw new Error(notes.trim());
  return JSON.parse(result) as Board;
}

/** Describes a session on one line. */
export function describeSession({ activity, now, workflow, changed_at: changed }: SessionCard, nowMs: number): string {
  const state = {
    waits: "Waiting for you",
    unreadable: "Unreadable",
    limited: "Rate limited",
    quiet: "Idle",
    working: "Running",
    ended: "Finished",
  }[activity];
  const parts = [workflow, now === "" ? state : `${state}: ${now}`, age(changed ?? undefined, nowMs)];
  return parts.filter((part) => part !== undefined && part !== "").join(" · ");
}

/** The icon of a session and its color. */
export function sessionIcon({ activity }: SessionCard): { name: string; color?: string } {
  switch (activity) {
    case "waits":
      return { name: "bell-dot", color: "list.warningForeground" };
    case "unreadable":
      return { name: "warning", color: "list.warningForeground" };
    case "limited":
      return { name: "watch" };
    case "quiet":
      return { name: "question" };
    case "working":
      return { name: "sync~spin", color: "charts.blue" };
    case "ended":
      return { name: "pass", color: "testing.iconPassed" };
  }
}
