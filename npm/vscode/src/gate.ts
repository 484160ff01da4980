/** The dialog of a gate, and the command line of a decision. */

import type { AsksView } from "onloop";

/** The buttons of the dialog, in this order. */
export const CHOICES = {
  approveAndResume: "Approve and Resume",
  approve: "Approve",
  reject: "Reject…",
  changes: "Show Changes",
  report: "Open Report",
} as const;

export type Choice = (typeof CHOICES)[keyof typeof CHOICES];

/** The buttons for a lens or menu item with this decision; all of them for `undefined`. */
export function offered(word: unknown): Choice[] {
  const { approveAndResume, approve, reject, changes, report } = CHOICES;
  if (word === "approved") return [approveAndResume, approve, changes];
  if (word === "rejected") return [reject, changes];
  return [approveAndResume, approve, reject, changes, report];
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

/** The command line of a decision. A rejection with a reason runs the step again. */
export function decisionWords(id: string, asks: AsksView, decision: "approved" | { reason: string }): string[] {
  const about = ["--run-id", id, "--seen", asks.seen];
  if (decision === "approved") return ["gate", String(asks.step), "approved", ...about];
  const reason = decision.reason.trim();
  const again = reason === "" ? [] : ["--redo", `--reason=${reason}`];
  return ["gate", String(asks.step), "rejected", ...again, ...about];
}
