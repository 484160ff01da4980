import type { FailureFix, FailureKind } from "./vocabulary.js";

export type { FailureKind };

/**
 * An effect that did not happen, or may have happened (`unknown`). Hosts throw it. Programs branch on
 * `kind`, and people read the message.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly kind: FailureKind;
  /** What a person can do about it. */
  readonly fix?: FailureFix;

  constructor(kind: FailureKind, message: string, fix?: FailureFix) {
    super(message);
    this.kind = kind;
    if (fix !== undefined) this.fix = fix;
  }
}
