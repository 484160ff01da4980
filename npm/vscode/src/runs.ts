/** Runs, from `onloop status --json`, and their words and icons. */

/** An element of `onloop status --json`. */
export interface RunEntry {
  run_id: string;
  /** `rw-auto` for a run of rw-auto; missing for others. */
  kind?: string;
  /**
   * `running`, `interrupted`, `paused`, `blocked`, `ready_to_finish`, `completed`, `abandoned`,
   * `untrusted` or `unreadable`.
   */
  status: string;
  error?: string;
  /** The goal of the workflow, on one line. */
  intent?: string;
  started_at?: string;
  /** The process that drives it, if there is one. */
  driven_by?: Driver | null;
  /** The outcome of its work: `kept`, `merged`, `published` or `discarded`. */
  outcome?: string | null;
  repo_root?: string | null;
  worktree_path?: string | null;
  current_step?: number;
  /** Every step that is worked on; several where steps work side by side. */
  current_steps?: number[];
  total_steps?: number;
  branch?: string | null;
  last_update?: string;
  /** The next action; `null` if onloop cannot tell. */
  next?: Advice | null;
  workflow_path?: string;
  source_workflow_path?: string | null;
  execution_root?: string;
  report_path?: string;
  state_file: string;
  /** The folder with the record. */
  run_root: string;
}

/** A process that drives a run. */
export interface Driver {
  pid: number;
  host: string;
  /** Whether it runs on this machine. Of other machines nothing is known. */
  live: boolean;
  /** `embedded` or `server`: a process with other work, which is never interrupted because of a run. */
  role: string | null;
}

/** The next action of a run, from `onloop next`. */
export interface Advice {
  action: string;
  step: number | null;
  needs_person: boolean;
}

/** A run and its next action; a finished run has none. */
export interface Run {
  entry: RunEntry;
  advice: Advice | undefined;
}

const FINISHED = new Set(["completed", "ready_to_finish", "abandoned"]);
/** Runs whose record was not read. */
const NOT_READ = new Set(["unreadable", "untrusted"]);

export function isFinished({ entry }: Run): boolean {
  return FINISHED.has(entry.status) || entry.outcome === "discarded";
}

/** The step whose gate or review waits for a person. */
export function waitingGate({ advice }: Run): number | undefined {
  const asks = advice?.action === "ask-gate" || advice?.action === "ask-review";
  return asks ? (advice.step ?? undefined) : undefined;
}

/** Whether it waits for a decision, at a gate or for `onloop resume`. */
export function waitsForPerson({ advice }: Run): boolean {
  return advice?.action.startsWith("ask-") ?? false;
}

/** Whether a process drives it now. */
export function isDriven({ entry }: Run): boolean {
  return entry.driven_by != null;
}

/** Whether `onloop resume` can continue it. */
export function isResumable(run: Run): boolean {
  return !isFinished(run) && !NOT_READ.has(run.entry.status) && !isDriven(run) && waitingGate(run) === undefined;
}

/** Whether this window, with process id `pid`, can stop the driver. */
export function isStoppable({ entry: { driven_by: driver } }: Run, pid: number): boolean {
  return driver != null && driver.live && (driver.pid === pid || driver.role === null);
}

/** Whether its work can be merged, published, kept or discarded. */
export function isFinishable({ entry }: Run): boolean {
  const hasEnded = ["completed", "ready_to_finish", "blocked"].includes(entry.status);
  return hasEnded && entry.branch != null && (entry.outcome ?? "kept") === "kept" && entry.driven_by == null;
}

/** Runs that wait for a person first, finished ones last; in each group the last changed first. */
export function inOrder(runs: Run[]): Run[] {
  const rank = (run: Run): number => (isFinished(run) ? 2 : waitsForPerson(run) ? 0 : 1);
  const time = ({ entry }: Run): string => entry.last_update ?? "";
  return runs.toSorted((a, b) => rank(a) - rank(b) || time(b).localeCompare(time(a)));
}

/** The runs of a workflow file, in any worktree. */
export function runsOf(runs: Run[], file: string): Run[] {
  return runs.filter(({ entry }) => [entry.workflow_path, entry.source_workflow_path].includes(file));
}

/** The short name of its workflow; the id if the file is unknown. */
export function label({ entry }: Run): string {
  const file = entry.source_workflow_path ?? entry.workflow_path;
  return file === undefined ? entry.run_id : workflowName(file);
}

/** `docs/plans/2026-03-20-limits-workflow.md` and `hotl-workflow-limits.md` are `limits`. */
export function workflowName(file: string): string {
  const base = (/[^\\/]*$/.exec(file)?.[0] ?? file).replace(/\.md$/i, "");
  const name = base.replace(/^hotl-workflow-?/, "").replace(/-?workflow$/, "").replace(/^\d{4}-\d{2}-\d{2}-/, "");
  return name === "" ? base : name;
}

/** The age of a time, such as `5 min`; `undefined` if the time is unknown. */
export function age(moment: string | undefined, nowMs: number): string | undefined {
  const passed = moment === undefined ? Number.NaN : nowMs - Date.parse(moment);
  if (Number.isNaN(passed)) return undefined;
  const minutes = Math.floor(passed / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / (24 * 60))} d`;
}

/** The words for each status; see the table of state words. */
const STATUS_WORDS: Record<string, string> = {
  running: "Running",
  paused: "Paused",
  interrupted: "Interrupted",
  blocked: "Blocked",
  ready_to_finish: "Completed",
  completed: "Completed",
  abandoned: "Abandoned",
};

/** Describes a run on one line. */
export function describe(run: Run): string {
  const { status, error, current_step: step, total_steps: steps, outcome } = run.entry;
  if (error !== undefined) return error;
  const gate = waitingGate(run);
  if (gate !== undefined) return `Waiting for you at step ${gate}`;
  if (status === "untrusted") return "From another machine; adopt it first";
  const word = waitsForPerson(run) ? "Waiting for you" : (STATUS_WORDS[status] ?? status);
  if (isFinished(run)) return outcome == null ? word : `${word}, ${outcome}`;
  const beside = run.entry.current_steps ?? [];
  return beside.length > 1 ? `${word}, steps ${beside.join(", ")} of ${steps}` : `${word}, step ${step}/${steps}`;
}

/** The icon of a run and its color. */
export function icon(run: Run): { name: string; color?: string } {
  if (waitingGate(run) !== undefined) return { name: "bell-dot", color: "list.warningForeground" };
  switch (run.entry.status) {
    case "running":
      return { name: isDriven(run) ? "sync~spin" : "play-circle", color: "charts.blue" };
    case "paused":
      return { name: "debug-pause" };
    case "interrupted":
      return { name: "debug-disconnect", color: "list.warningForeground" };
    case "blocked":
      return { name: "error", color: "list.errorForeground" };
    case "ready_to_finish":
    case "completed":
      return { name: "pass-filled", color: "testing.iconPassed" };
    case "abandoned":
      return { name: "circle-slash" };
    case "untrusted":
      return { name: "question" };
    default:
      return { name: "warning", color: "list.warningForeground" };
  }
}

/** The context value of a run: words that conditions of menus match. */
export function context(run: Run, pid: number): string {
  const { entry } = run;
  const words = ["run"];
  const add = (word: string, fits: boolean): void => void (fits && words.push(word));
  add("resumable", isResumable(run) && entry.status !== "blocked");
  add("gate", waitingGate(run) !== undefined);
  add("stoppable", isStoppable(run, pid));
  add("blocked", entry.status === "blocked" && !isFinished(run) && !isDriven(run));
  add("finishable", isFinishable(run));
  add("readable", !NOT_READ.has(entry.status));
  add("untrusted", entry.status === "untrusted");
  add("open", !isFinished(run) && !NOT_READ.has(entry.status) && !isDriven(run));
  add("worktree", entry.worktree_path != null && entry.outcome !== "merged" && entry.outcome !== "discarded");
  return words.join(" ");
}

/** The report as an absolute path. */
export function reportPath({ run_root: root, report_path: path }: RunEntry): string | undefined {
  if (path === undefined) return undefined;
  return /^([\\/]|[A-Za-z]:)/.test(path) ? path : `${root}/${path}`;
}
