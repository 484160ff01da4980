/** The dialog of a gate, and the command line of a decision. */

import type { AsksView } from "onloop";

/** The buttons of the dialog, in this order. */
export const CHOICES = {
  approveAndResume: "Approve and Resume",
  approve: "Approve",
  redo: "Request Changes…",
  reject: "Reject…",
  changes: "Show Changes",
  report: "Open Run",
} as const;

export type Choice = (typeof CHOICES)[keyof typeof CHOICES];

/** The buttons for a lens or menu item with this decision; all of them for `undefined`. */
export function offered(word: unknown): Choice[] {
  const { approveAndResume, approve, redo, reject, changes, report } = CHOICES;
  if (word === "approved") return [approveAndResume, approve, changes];
  if (word === "rejected") return [redo, reject, changes];
  return [approveAndResume, approve, redo, reject, changes, report];
}

/** The text of the dialog. */
export function detail(asks: AsksView, id: string): string {
  const facts = asks.facts?.text.trimEnd() ?? asks.question;
  return `${facts}\n\nRun ${id}. The record will say that a person decided in an editor.`;
}

/** Whether the typed text is the name of the step, if the gate asks for it. */
export function isNamed(asks: AsksView, typed: string): boolean {
  return asks.type_name === null || typed.trim() === asks.type_name.trim();
}

/** A decision: with `redo` the step runs again for that reason, with `reject` the run ends for it. */
export type Decision = "approved" | { redo: string } | { reject: string };

/** The command line of a decision. */
export function decisionWords(id: string, asks: AsksView, decision: Decision): string[] {
  const about = ["--run-id", id, "--seen", asks.seen];
  if (decision === "approved") return ["gate", String(asks.step), "approved", ...about];
  const why = "redo" in decision ? ["--redo", `--reason=${decision.redo.trim()}`] : [`--reason=${decision.reject.trim()}`];
  return ["gate", String(asks.step), "rejected", ...why, ...about];
}
