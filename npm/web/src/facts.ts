// The JSON that the server makes of the facts. A member that is null there is missing here.

export interface State {
  mark: string;
  words: string;
  needs_person: boolean;
  is_over: boolean;
}

/** What every page needs. */
export interface Common {
  /** The time of the server. */
  now: string;
  /** Digest of what is shown; events continue from there. */
  seen: string;
  states: Record<string, State>;
  /** The token for signing out. */
  out?: string;
}

export interface Logged {
  at: string;
  text: string;
}

/** A line of a text that an attempt left. */
export interface TextLine {
  /** Missing: with the line before, or not known. */
  at?: string;
  text: string;
}

export interface Card {
  id: string;
  state: string;
  now: string;
  since?: string;
  then?: string;
  intent: string;
  folder: string;
  repository: string;
  branch?: string;
  step: number;
  step_name: string;
  steps: number;
  done: number;
  risk: string;
  started_at?: string;
  changed_at?: string;
  ended_at?: string;
  agent?: string;
  attempts: number;
  active_ms: number;
  cost_usd?: number;
  tokens?: number;
  used?: string;
  driver?: number;
  in_fleet: boolean;
  last?: Logged;
  pull_request?: PullRequest;
}

/** The pull request of a run; its state is known once onloop has followed it. */
export interface PullRequest {
  url: string;
  state?: string;
  line?: string;
}

export interface Call {
  id: string;
  session: string;
  folder: string;
  tool: string;
  target: string;
  complete: boolean;
  reason: string;
  since: string;
}

export interface Session {
  id: string;
  folder: string;
  activity: string;
  now: string;
  workflow: string;
  goal: string;
  continued: number;
  issue?: number;
  issue_url?: string;
  pull_request?: number;
  pull_request_url?: string;
  used?: string;
  changed_at?: string;
}

/** A run of rw-auto that is under way or was killed. */
export interface Auto {
  id: string;
  state: string;
  now: string;
  folder: string;
  since?: string;
  stop: string;
}

export interface Cost {
  name: string;
  turns: number;
  unknown: number;
  tokens: number;
  cost_usd?: number;
}

/** A day, and how many runs began on it. */
export interface Day extends Cost {
  runs: number;
}

export interface Board extends Common {
  board: { runs: Card[]; left_out: number; sessions: Session[]; autos: Auto[]; calls: Call[] };
  days: Day[];
  agents: Cost[];
  /** The token for each call that waits. */
  tokens: Record<string, string>;
}

export interface Check {
  what: string;
  result: string;
  reason?: string;
  took_ms?: number;
  at?: string;
  warnings: string[];
  opened?: string;
}

export interface EvaluatedCheck extends Check {
  exit_code?: number;
  output: string;
}

export interface Step {
  number: number;
  name: string;
  symbol: string;
  status: string;
  attempts: number;
  limit: number;
  started_at?: string;
  completed_at?: string;
  gate?: string;
  gate_by?: string;
  reason?: string;
  /** How its work comes into the run, where it works beside others. */
  fork?: string;
}

/** Where each step of a graph stands, and the lines between them, as paths of SVG. */
export interface Graph {
  width: number;
  height: number;
  label: string;
  lines: string[];
  steps: { number: number; symbol: string; x: number; y: number; title: string }[];
}

export interface Attempt {
  number: number;
  started_at: string;
  acted_at?: string;
  ended_at?: string;
  result: string;
  reason?: string;
  output: string;
  /** The run's own checkpoint of its files; work beside others has none. */
  checkpoint?: string;
  agent?: string;
  model?: string;
  tokens?: number;
  cost_usd?: number;
  /** Missing: the client said the cost. */
  prices_as_of?: string;
  refused: number;
  checks: EvaluatedCheck[];
}

export interface GateFacts {
  action: string;
  risk: string;
  checks: Check[];
  earlier: string[];
  changes: string;
  said: string;
  since_step?: number;
  changes_unknown?: string;
  review?: { verdict: string; findings: string };
}

export interface Choice {
  step?: number;
  question: string;
  is_gate: boolean;
  type_name?: string;
}

/** Something that took time. */
export interface Span {
  step: number;
  kind: "acted" | "failed" | "waits";
  from: string;
  /** Missing: it has not ended. */
  to?: string;
}

export interface RunFacts extends Common {
  spans: Span[];
  run: {
    card: Card;
    steps: Step[];
    graph?: Graph;
    choice?: Choice;
    facts?: GateFacts;
    events: Logged[];
    actions: string[];
    workflow: string;
    report: string;
    /** Names the record that a decision is about. */
    seen: string;
  };
  /** The commands that continue the run in a terminal. */
  advice?: string;
  token?: string;
}

/** A run as a whole. */
export interface Summary {
  success_criteria: string;
  warnings: string[];
  review?: { verdict: string; findings: string };
  checks: number;
  passed: number;
  steps: { action: string; decisions: string[] }[];
  receipt: [name: string, value: string][];
}

export interface Diff {
  patch: string;
  /** The command that shows all of it; missing: this is all. */
  whole?: string;
  trouble?: string;
}
