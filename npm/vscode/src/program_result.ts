/** How a program ended. */
export interface Ended {
  exit: number;
  /** What it printed for programs. */
  result: string;
  /** What it told people, without styles. */
  notes: string;
  /** The run that it drove. */
  runId?: string;
}

/** Exit codes that are told apart here. */
export const EXIT = { done: 0, failed: 1, usage: 2, paused: 3, refused: 4, bug: 70, interrupted: 130 } as const;
