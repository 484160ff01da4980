/** Runs as `onloop status --json` lists them, and how they are shown. */

/** An element of `onloop status --json`. */
export interface RunEntry {
  run_id: string;
  /**
   * `running`, `interrupted`, `paused`, `blocked`, `ready_to_finish`, `completed`, `abandoned`,
   * `untrusted` or `unreadable`.
   */
  status: string;
  error?: string;
  /** What it builds, on one line. */
  intent?: string;
  started_at?: string;
  /** The process that drives it, if one does. */
  driven_by?: Driver | null;
  /** What became of its work: `kept`, `merged`, `published` or `discarded`. */
  outcome?: string | null;
  repo_root?: string | null;
  worktree_path?: string | null;
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

/** A process that drives a run. */
export interface Driver {
  pid: number;
  host: string;
  /** It is on this machine and there; of other machines nothing is known. */
  live: boolean;
  /** What it does besides (`embedded`, `server`): such a process is not interrupted because of a run. */
  role: string | null;
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

const OVER = new Set(["completed", "ready_to_finish", "abandoned"]);
/** Nothing is known of these but that they are there. */
const CLOSED = new Set(["unreadable", "untrusted"]);

export function isOver({ entry }: Run): boolean {
  return OVER.has(entry.status) || entry.outcome === "discarded";
}

/** The step whose gate or review waits for a person. */
export function waitingGate({ advice }: Run): number | undefined {
  const asks = advice?.action === "ask-gate" || advice?.action === "ask-review";
  return asks ? (advice.step ?? undefined) : undefined;
}

/** Whether it does not go on before a person has said something, be it at a gate or to `onloop resume`. */
export function waitsForPerson({ advice }: Run): boolean {
  return advice?.action.startsWith("ask-") ?? false;
}

/** Whether somebody works on it at the moment. */
export function isDriven({ entry }: Run): boolean {
  return entry.driven_by != null;
}

/** Whether `onloop resume` is what goes on with it. */
export function isResumable(run: Run): boolean {
  return !isOver(run) && !CLOSED.has(run.entry.status) && !isDriven(run) && waitingGate(run) === undefined;
}

/** Whether its driver can be stopped from here: by us, who are `pid`, or by an interrupt. */
export function isStoppable({ entry: { driven_by: driver } }: Run, pid: number): boolean {
  return driver != null && driver.live && (driver.pid === pid || driver.role === null);
}

/** Whether its work waits to be merged, published, kept or discarded. */
export function isFinishable({ entry }: Run): boolean {
  const hasEnded = ["completed", "ready_to_finish", "blocked"].includes(entry.status);
  return hasEnded && entry.branch != null && (entry.outcome ?? "kept") === "kept" && entry.driven_by == null;
}

/** Those that wait for a person first, finished ones last; of each the one that changed last first. */
export function inOrder(runs: Run[]): Run[] {
  const rank = (run: Run): number => (isOver(run) ? 2 : waitsForPerson(run) ? 0 : 1);
  const time = ({ entry }: Run): string => entry.last_update ?? "";
  return runs.toSorted((a, b) => rank(a) - rank(b) || time(b).localeCompare(time(a)));
}

/** The runs of a workflow file, wherever they work. */
export function runsOf(runs: Run[], file: string): Run[] {
  return runs.filter(({ entry }) => [entry.workflow_path, entry.source_workflow_path].includes(file));
}

/** The name of its workflow, as people say it; the id where no file is known. */
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

/** How long ago a moment is, as `5 min`; nothing where it is not known. */
export function age(moment: string | undefined, nowMs: number): string | undefined {
  const passed = moment === undefined ? Number.NaN : nowMs - Date.parse(moment);
  if (Number.isNaN(passed)) return undefined;
  const minutes = Math.floor(passed / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / (24 * 60))} d`;
}

/** One line about a run. */
export function describe(run: Run): string {
  const { status, error, current_step: step, total_steps: steps, outcome } = run.entry;
  if (error !== undefined) return error;
  const gate = waitingGate(run);
  if (gate !== undefined) return `waits for you at step ${gate}`;
  if (isOver(run)) return outcome == null ? status : `${status}, ${outcome}`;
  const word = status.replaceAll("_", " ");
  return status === "untrusted" ? "from elsewhere; adopt it first" : `${word}, step ${step}/${steps}`;
}

/** Name of the symbol for a run, and of its colour. */
export function icon(run: Run): { name: string; colour?: string } {
  if (waitingGate(run) !== undefined) return { name: "bell-dot", colour: "list.warningForeground" };
  switch (run.entry.status) {
    case "running":
      return { name: isDriven(run) ? "sync~spin" : "play-circle", colour: "charts.blue" };
    case "paused":
      return { name: "debug-pause" };
    case "interrupted":
      return { name: "debug-disconnect", colour: "list.warningForeground" };
    case "blocked":
      return { name: "error", colour: "list.errorForeground" };
    case "ready_to_finish":
    case "completed":
      return { name: "pass-filled", colour: "testing.iconPassed" };
    case "abandoned":
      return { name: "circle-slash" };
    case "untrusted":
      return { name: "question" };
    default:
      return { name: "warning", colour: "list.warningForeground" };
  }
}

/** Words that menus look for. */
export function context(run: Run, pid: number): string {
  const { entry } = run;
  const words = ["run"];
  const add = (word: string, fits: boolean): void => void (fits && words.push(word));
  add("resumable", isResumable(run) && entry.status !== "blocked");
  add("gate", waitingGate(run) !== undefined);
  add("stoppable", isStoppable(run, pid));
  add("blocked", entry.status === "blocked" && !isOver(run) && !isDriven(run));
  add("finishable", isFinishable(run));
  add("readable", !CLOSED.has(entry.status));
  add("untrusted", entry.status === "untrusted");
  add("open", !isOver(run) && !CLOSED.has(entry.status) && !isDriven(run));
  add("worktree", entry.worktree_path != null && entry.outcome !== "merged" && entry.outcome !== "discarded");
  return words.join(" ");
}

/** The report as an absolute path. */
export function reportPath({ run_root: root, report_path: path }: RunEntry): string | undefined {
  if (path === undefined) return undefined;
  return /^([\\/]|[A-Za-z]:)/.test(path) ? path : `${root}/${path}`;
}
