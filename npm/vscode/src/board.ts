/** Sessions and calls of this machine, as `onloop session list --everywhere --json` lists them. */

import type { Core } from "onloop";
import { conduct } from "./conduct.js";
import { EXIT } from "./ended.js";
import { age } from "./runs.js";

/** A hands-off session. */
export interface SessionCard {
  id: string;
  folder: string;
  status: string;
  standing: "waits" | "unreadable" | "limited" | "quiet" | "working" | "ended";
  /** Why it stands so; empty where that says nothing more. */
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

/** A call of a tool that waits for a person. */
export interface CallCard {
  id: string;
  session: string;
  folder: string;
  tool: string;
  target: string;
  /** Whether `target` is all of it. Nobody allows what they have not seen. */
  complete: boolean;
  reason: string;
  since: string;
}

export interface Board {
  sessions: SessionCard[];
  calls: CallCard[];
}

/** What there is now, below any folder of this machine; throws when it cannot be found out. */
export async function readBoard(core: Core, folder: string): Promise<Board> {
  const { exit, result, notes } = await conduct(core, { folder, argv: ["session", "list", "--everywhere", "--json"] });
  if (exit !== EXIT.done) throw new Error(notes.trim());
  return JSON.parse(result) as Board;
}

/** One line about a session. */
export function describeSession({ standing, now, workflow, changed_at: changed }: SessionCard, nowMs: number): string {
  const how = {
    waits: "waits for you",
    unreadable: "cannot be read",
    limited: "is not served",
    quiet: "quiet",
    working: "works",
    ended: "ended",
  }[standing];
  const parts = [workflow, now === "" ? how : `${how}: ${now}`, age(changed ?? undefined, nowMs)];
  return parts.filter((part) => part !== undefined && part !== "").join(" · ");
}

/** Name of the symbol for a session, and of its colour. */
export function sessionIcon({ standing }: SessionCard): { name: string; colour?: string } {
  switch (standing) {
    case "waits":
      return { name: "bell-dot", colour: "list.warningForeground" };
    case "unreadable":
      return { name: "warning", colour: "list.warningForeground" };
    case "limited":
      return { name: "watch" };
    case "quiet":
      return { name: "question" };
    case "working":
      return { name: "sync~spin", colour: "charts.blue" };
    case "ended":
      return { name: "pass", colour: "testing.iconPassed" };
  }
}
