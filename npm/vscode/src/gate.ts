/** What a person is shown before they decide at a gate, and what their decision is on the command line. */

import type { AsksView } from "onloop";

/** What can be chosen, in this order. */
export const CHOICES = {
  approveAndResume: "Approve and Resume",
  approve: "Approve",
  reject: "Reject…",
  changes: "Show Changes",
  report: "Open Report",
} as const;

export type Choice = (typeof CHOICES)[keyof typeof CHOICES];

/** The choices that somebody has who came by a lens or a button for `word`; undefined: all. */
export function offered(word: unknown): Choice[] {
  const { approveAndResume, approve, reject, changes, report } = CHOICES;
  if (word === "approved") return [approveAndResume, approve, changes];
  if (word === "rejected") return [reject, changes];
  return [approveAndResume, approve, reject, changes, report];
}

/** What there is to know: the lines of a terminal, whose wrapped ends belong together again. */
export function detail(asks: AsksView, id: string): string {
  const facts = asks.facts?.text.trimEnd() ?? asks.question;
  return `${facts}\n\nRun ${id}. The record will say that a person decided, in an editor.`;
}

/** Whether what was typed is the name of the step, where that is needed. */
export function isNamed(asks: AsksView, typed: string): boolean {
  return asks.type_name === null || typed.trim() === asks.type_name.trim();
}

/** The command line of a decision about what was seen; a rejection with a reason has the step done again. */
export function decisionWords(id: string, asks: AsksView, decision: "approved" | { reason: string }): string[] {
  const about = ["--run-id", id, "--seen", asks.seen];
  if (decision === "approved") return ["gate", String(asks.step), "approved", ...about];
  const reason = decision.reason.trim();
  const again = reason === "" ? [] : ["--redo", `--reason=${reason}`];
  return ["gate", String(asks.step), "rejected", ...again, ...about];
}
