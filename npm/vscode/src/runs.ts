/** Runs as `onloop status --json` lists them, and how they are shown. */

/** An element of `onloop status --json`. */
export interface RunEntry {
  run_id: string;
  /** `running`, `paused`, `blocked`, `ready_to_finish`, `completed`, `abandoned` or `unreadable`. */
  status: string;
  error?: string;
  current_step?: number;
  total_steps?: number;
  branch?: string | null;
  last_update?: string;
  /** What should happen to it now; `null`: it is not ours to say. */
  next?: Advice | null;
  workflow_path?: string;
  source_workflow_path?: string | null;
  execution_root?: string;
  report_path?: string;
  state_file: string;
  /** Folder that has the record. */
  run_root: string;
}

/** What should happen to a run, as `onloop next` says it. */
export interface Advice {
  action: string;
  step: number | null;
  needs_person: boolean;
}

/** A run and what should happen to it; finished runs need no advice. */
export interface Run {
  entry: RunEntry;
  advice: Advice | undefined;
}

const OVER = new Set(["completed", "abandoned"]);

export function isOver({ entry }: Run): boolean {
  return OVER.has(entry.status);
}

/** The step whose gate or review waits for a person. */
export function waitingGate({ advice }: Run): number | undefined {
  const asks = advice?.action === "ask-gate" || advice?.action === "ask-review";
  return asks ? (advice.step ?? undefined) : undefined;
}

/** Whether `onloop resume` is what goes on with it. */
export function isResumable(run: Run): boolean {
  return !isOver(run) && run.entry.status !== "unreadable" && waitingGate(run) === undefined;
}

/** Newest first; ids of one workflow end with their time. */
export function inOrder(runs: Run[]): Run[] {
  const time = ({ entry }: Run): string => entry.last_update ?? "";
  return runs.toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)) || time(b).localeCompare(time(a)));
}

/** The runs of a workflow file, wherever they work. */
export function runsOf(runs: Run[], file: string): Run[] {
  return runs.filter(({ entry }) => [entry.workflow_path, entry.source_workflow_path].includes(file));
}

/** One line about a run. */
export function describe(run: Run): string {
  const { status, error, current_step: step, total_steps: steps } = run.entry;
  if (error !== undefined) return error;
  const gate = waitingGate(run);
  if (gate !== undefined) return `waits for you at step ${gate}`;
  if (isOver(run)) return status;
  return `${status.replaceAll("_", " ")}, step ${step}/${steps}`;
}

/** Name of the symbol for a run. */
export function icon(run: Run): string {
  if (waitingGate(run) !== undefined) return "bell-dot";
  switch (run.entry.status) {
    case "running":
      return "sync";
    case "paused":
      return "debug-pause";
    case "blocked":
      return "error";
    case "ready_to_finish":
    case "completed":
      return "pass-filled";
    case "abandoned":
      return "circle-slash";
    default:
      return "warning";
  }
}

/** Words that menus look for. */
export function context(run: Run): string {
  const words = ["run"];
  if (isResumable(run)) words.push("resumable");
  if (waitingGate(run) !== undefined) words.push("gate");
  return words.join(" ");
}

/** The report as an absolute path. */
export function reportPath({ run_root: root, report_path: path }: RunEntry): string | undefined {
  if (path === undefined) return undefined;
  return /^([\\/]|[A-Za-z]:)/.test(path) ? path : `${root}/${path}`;
}
