/** Sorts of failure that programs tell apart. */
export type FailureKind =
  | "not_found"
  | "exists"
  | "conflict"
  | "denied"
  | "full"
  | "too_large"
  | "invalid"
  | "busy"
  | "closed"
  | "interrupted"
  | "unsupported"
  | "other";

/**
 * An effect that did not happen. A host throws it; the program branches on `kind`, people read
 * the message.
 */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}
