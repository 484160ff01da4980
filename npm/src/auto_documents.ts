/** Arguments and results of the core that are about rw-auto. */

/** One row of the task table in `.ai/PROGRESS.md`. */
export interface Task {
  id: string;
  title: string;
  /** `pending`, `in-progress`, `completed`, `blocked`, or an unknown word. */
  status: string;
}

export type TaskStatus = "pending" | "in-progress" | "completed" | "blocked";

/** The tasks of a progress file. */
export interface Progress {
  /** In the order of the file, duplicates included. */
  rows: Task[];
  /** Whether there are rows, and whether one needs work. */
  tasks: "none" | "settled" | "active";
  /** The first task that is in progress, or else pending, or else blocked. */
  next: Task | null;
  /** Every task is completed. */
  finished: boolean;
}

/** The declarations of a feature file. */
export interface Feature {
  status: string | null;
  /** Whether it needs a plan. */
  ready: boolean;
}

export type Profile = "v1" | "v2" | "v3" | "route";

/** The state of a workspace that rw-auto routes by. */
export interface RouteFacts {
  /** Whether `.ai/CONTEXT.md` is readable. */
  context: boolean;
  /** The result of `readProgress`; null without a progress file. */
  tasks: "none" | "settled" | "active" | null;
  /** Whether a feature needs a plan. */
  ready_feature: boolean;
  /** Whether the files of the plan are complete. */
  artifacts: boolean;
  /** Whether the argument says what to build. */
  summary: boolean;
}

/** The route of a workspace. */
export interface Route {
  /** The next agent; null if the work is done or undecided. */
  child: "rw-planner" | "rw-loop" | null;
  /** The token of the route, if there is one. */
  marker: string | null;
  reason: string;
}

/** A simulated file: its content, or why it cannot be read. */
export type RehearsedFile =
  | string
  | { content: string; mtime?: string }
  | { unreadable: string; mtime?: string };

/** A simulated run of rw-auto. */
export interface Scenario {
  id?: unknown;
  profile?: Profile;
  /** Time at the start, RFC 3339. */
  now: string;
  argument?: string | null;
  env?: { run_subagent: boolean };
  tree?: Record<string, RehearsedFile>;
  /** The findings of the health check, before and after the repair. */
  health?: string | string[];
  health_patch?: Record<string, RehearsedFile | null>;
  /** The results of the agents, in order. */
  children?: {
    result?: unknown;
    error?: "threw" | "timeout" | "cancelled" | "unavailable";
    tree_patch?: Record<string, RehearsedFile | null>;
    takes_s?: number;
  }[];
}

/** The output and effects of a simulated run. */
export interface Rehearsal {
  id: unknown;
  /** The token stream. */
  lines: string[];
  dispatches: { target: string; argument: string }[];
  lock_present: boolean;
}

/** The last line of `onloop auto begin` and `onloop auto resume`. */
export type AutoLine =
  | { dispatch: { target: string; argument: string; result_file: string } }
  | { stop: { exit: number; next_command: string } };
