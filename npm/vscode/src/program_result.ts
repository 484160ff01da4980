/** The result of a program. */
export interface ProgramResult {
  exit: number;
  /** Its standard output. */
  result: string;
  /** Its standard error, without styles. */
  notes: string;
  /** The id of the run that it drove. */
  runId?: string;
}

/** Exit codes that the extension distinguishes. */
export const EXIT = { done: 0, failed: 1, usage: 2, paused: 3, refused: 4, bug: 70, interrupted: 130 } as const;
