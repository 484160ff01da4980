import type { FailureKind } from "./vocabulary.js";

export type { FailureKind };

/**
 * An effect that did not happen, or may have happened (`unknown`). Hosts throw it. Programs branch on
 * `kind`, and people read the message.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
