import type { FailureKind } from "./vocabulary.js";

export type { FailureKind };

/**
 * An effect that did not happen, or of which nobody knows whether it did (`unknown`). A host throws it;
 * the program branches on `kind`, people read the message.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
