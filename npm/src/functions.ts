/** The functions of the core that every module has. */

import type { Glue as Pure } from "../build/onloop-pure.js";
import * as given from "./arguments.js";
import type {
  Beginning,
  Diagnostic,
  Explanation,
  Feature,
  Field,
  Next,
  Outline,
  Profile,
  Progress,
  Receipt,
  Rehearsal,
  Route,
  RouteFacts,
  Ruling,
  RunEvent,
  RunRecord,
  RunView,
  Scenario,
  TaskStatus,
  ToolCall,
} from "./documents.js";
import { Instance, type ModuleSource, compiled } from "./instance.js";
import type {
  AgentHost,
  HookAnswer,
  HookEvent,
  OwnWorkflow,
  SessionAnswer,
  SessionConfig,
  SessionEnding,
  SessionRecord,
  SessionStop,
  SessionView,
  Started,
} from "./session_documents.js";

const encoder = new TextEncoder();

/** The content of a file as UTF-8. */
function file(content: unknown): Uint8Array {
  return encoder.encode(given.text("text", content));
}

const BEGINNING = {
  id: "string?",
  at_ms: "number",
  auto_approve: "boolean?",
  reverify: "boolean?",
  review_agent: "string?",
  place: "object?",
} as const;
const OWN_WORKFLOW = { command: "string", name: "string" } as const;
const TOOL_CALL = {
  tool: "string",
  cwd: "string",
  home: "string?",
  session: "object?",
  git_branch: "string?",
  confined: "boolean?",
  config: "object?",
} as const;
const STOP = { max_continuations: "number", file: "string", resume: "string" } as const;
const PLATFORMS = ["claude", "codex", "cline"] as const;
const PROFILES = ["v1", "v2", "v3", "route"] as const;
const TASK_STATUSES = ["pending", "in-progress", "completed", "blocked"] as const;
const ENDINGS = ["done", "error", "stopped"] as const;
const HOSTS = ["claude", "codex", "cursor", "vscode", "opencode", "cline", "copilot"] as const;

/** Pure functions: the same arguments give the same result on every host. */
export class Functions {
  readonly #instance: Instance<Pure>;
  /** @internal */
  protected readonly module: WebAssembly.Module;

  /** @internal */
  protected constructor(bind: () => Pure, module: ModuleSource) {
    this.module = compiled(module);
    this.#instance = new Instance(bind, this.module);
  }

  version(): string {
    return this.#call((core) => core.version());
  }

  /** Milliseconds since 1970 of an RFC 3339 time or a number of milliseconds. */
  parseTime(text: string): number | undefined {
    return this.#call((core) => core.parse_time(given.text("text", text)));
  }

  classify(path: string, text: string): "workflow" | "design" | "other" {
    return this.#call((core) => core.classify(given.text("path", path), file(text))) as "workflow" | "design" | "other";
  }

  /** The findings in a workflow file. */
  lint(path: string, text: string): Diagnostic[] {
    return JSON.parse(this.#call((core) => core.lint(given.text("path", path), file(text)))) as Diagnostic[];
  }

  /** The file after every safe fix, and how many were applied. */
  fix(path: string, text: string): { text: string; applied: number } {
    return JSON.parse(this.#call((core) => core.fix(given.text("path", path), file(text)))) as { text: string; applied: number };
  }

  /** The places of the parts of a workflow file, which may have errors. */
  outline(path: string, text: string): Outline {
    return JSON.parse(this.#call((core) => core.outline(given.text("path", path), file(text)))) as Outline;
  }

  /** The fields of workflow files, in the order of their documentation. */
  fields(): Field[] {
    return JSON.parse(this.#call((core) => core.fields())) as Field[];
  }

  /** The workflow as `hotl.workflow/v1`; `undefined` if it has errors. */
  normalize(path: string, text: string): object | undefined {
    const json = this.#call((core) => core.normalize(given.text("path", path), file(text)));
    return json === undefined ? undefined : (JSON.parse(json) as object);
  }

  /** The record of a new run. Throws when the workflow has errors. */
  begin(path: string, text: string, beginning: Beginning): RunRecord {
    return this.#call((core) => core.begin(given.text("path", path), file(text), given.closedDocument("beginning", beginning, BEGINNING)));
  }

  /** The record after an event. Throws when the event is refused. */
  apply(record: RunRecord, atMs: number, event: RunEvent): RunRecord {
    return this.#call((core) => core.apply(given.record(record), given.milliseconds("atMs", atMs), given.document("event", event, { event: "string" })));
  }

  next(record: RunRecord): Next {
    return JSON.parse(this.#call((core) => core.next(given.record(record)))) as Next;
  }

  view(record: RunRecord): RunView {
    return JSON.parse(this.#call((core) => core.view(given.record(record)))) as RunView;
  }

  /** The report, as Markdown. */
  report(record: RunRecord): string {
    return this.#call((core) => core.report(given.record(record)));
  }

  /** The final summary as a platform shows it. */
  summary(record: RunRecord, platform: "claude" | "codex" | "cline"): string {
    return this.#call((core) => core.summary(given.record(record), given.word("platform", platform, PLATFORMS)));
  }

  /** The prompt of an agent for a step. */
  prompt(record: RunRecord, step: number): string {
    return this.#call((core) => core.prompt(given.record(record), given.stepNumber("step", step)));
  }

  /** The receipt of a run, without output of commands. */
  receipt(record: RunRecord): Receipt {
    return JSON.parse(this.#call((core) => core.receipt(given.record(record)))) as Receipt;
  }

  /** Whether a tool call may run. Throws if the call is invalid; treat that as a denial. */
  decide(call: ToolCall): Ruling {
    return JSON.parse(this.#call((core) => core.decide(given.judged("call", call, TOOL_CALL)))) as Ruling;
  }

  /** The decision about a call, with every command as it was parsed. */
  explain(call: ToolCall): Explanation {
    return JSON.parse(this.#call((core) => core.explain(given.judged("call", call, TOOL_CALL)))) as Explanation;
  }

  /** Whether `list`, the content of the developer's trust list, has exactly this file. */
  isTrusted(list: string, content: string): boolean {
    return this.#call((core) => core.is_trusted(given.text("list", list), given.text("content", content)));
  }

  /** The trust list with this content added or removed. */
  setTrusted(list: string, content: string, trusted: boolean): string {
    return this.#call((core) => core.set_trusted(given.text("list", list), given.text("content", content), given.flag("trusted", trusted)));
  }

  /** The workflow that a prompt starts, if its first word is the command of one. */
  startedBy(prompt: string, own: readonly OwnWorkflow[] = []): Started | undefined {
    const started = this.#call((core) => core.started_by(given.text("prompt", prompt), given.documents("own", own, OWN_WORKFLOW)));
    return started === undefined ? undefined : (JSON.parse(started) as Started);
  }

  /** The session that a prompt starts; `undefined` unless it starts a workflow. */
  sessionBegin(id: string, prompt: string, atMs: number, own: readonly OwnWorkflow[] = []): SessionRecord | undefined {
    return this.#call((core) => core.session_begin(given.text("id", id), given.text("prompt", prompt), given.milliseconds("atMs", atMs), given.documents("own", own, OWN_WORKFLOW)));
  }

  /**
   * The session after a prompt that does not start a workflow. A question pauses the session until the
   * next prompt without one. `promptId` is the client's number of the prompt.
   */
  sessionPrompted(id: string, session: SessionRecord, atMs: number, text: string, promptId?: string): SessionRecord {
    return this.#call((core) => core.session_prompted(given.text("id", id), given.session(session), given.milliseconds("atMs", atMs), given.text("text", text), given.optionalText("promptId", promptId)));
  }

  /**
   * The answer to an agent that wants to stop: whether it may, or the continuation prompt. Store the
   * returned session, which has the new count, before you send the prompt.
   */
  sessionStopped(id: string, session: SessionRecord, atMs: number, stop: SessionStop): SessionAnswer {
    return JSON.parse(
      this.#call((core) => core.session_stopped(given.text("id", id), given.session(session), given.milliseconds("atMs", atMs), given.document("stop", stop, STOP))),
    ) as SessionAnswer;
  }

  /** The session, ended by a person. */
  sessionEnd(id: string, session: SessionRecord, atMs: number, ending: SessionEnding, reason?: string): SessionRecord {
    return this.#call((core) => core.session_end(given.text("id", id), given.session(session), given.milliseconds("atMs", atMs), given.word("ending", ending, ENDINGS), given.optionalText("reason", reason)));
  }

  sessionView(id: string, session: SessionRecord, file = ""): SessionView {
    return JSON.parse(this.#call((core) => core.session_view(given.text("id", id), given.session(session), given.text("file", file)))) as SessionView;
  }

  /**
   * The configuration of `.agentize.local.yaml` in `folder`. Never throws: an invalid value becomes a
   * note and is replaced by a safe default.
   */
  readConfig(yaml: string, folder: string, variables: Readonly<Record<string, string | undefined>> = {}): SessionConfig {
    return JSON.parse(
      this.#call((core) => core.read_config(given.text("yaml", yaml), given.text("folder", folder), given.variables("variables", variables))),
    ) as SessionConfig;
  }

  /** Parses the input of a hook. Throws if it is invalid. */
  hookEvent(host: AgentHost, input: string): HookEvent {
    return JSON.parse(this.#call((core) => core.hook_event(given.word("host", host, HOSTS), given.text("input", input, "a string: what the host writes to the hook, as it is")))) as HookEvent;
  }

  /** The output of a hook for `answer`; empty without a decision. */
  hookAnswer(host: AgentHost, event: HookEvent["event"], answer: HookAnswer): string {
    return this.#call((core) => core.hook_answer(given.word("host", host, HOSTS), given.text("event", event), given.document("answer", answer)));
  }

  /** The task table of `.ai/PROGRESS.md`. */
  readProgress(text: string): Progress {
    return JSON.parse(this.#call((core) => core.read_progress(given.text("text", text)))) as Progress;
  }

  /**
   * The progress file with another status, and optionally another commit, in every row of a task;
   * `undefined` if no row can be edited.
   */
  withTaskStatus(text: string, id: string, status: TaskStatus, commit?: string): string | undefined {
    return this.#call((core) => core.with_task_status(given.text("text", text), given.text("id", id), given.word("status", status, TASK_STATUSES), given.optionalText("commit", commit)));
  }

  /** The declarations of a file in `.ai/features`. */
  readFeature(text: string): Feature {
    return JSON.parse(this.#call((core) => core.read_feature(given.text("text", text)))) as Feature;
  }

  /** The route of a workspace in this state. */
  route(profile: Profile, facts: RouteFacts): Route {
    return JSON.parse(this.#call((core) => core.route(given.word("profile", profile, PROFILES), given.document("facts", facts)))) as Route;
  }

  /** A whole run of rw-auto over a simulated workspace. Throws on an invalid scenario. */
  rehearse(scenario: Scenario): Rehearsal {
    const answer = JSON.parse(this.#call((core) => core.rehearse(given.document("scenario", scenario)))) as
      | Rehearsal
      | { error: string };
    if ("error" in answer) throw new Error(answer.error);
    return answer;
  }

  /** The memory of the instance in bytes; it never shrinks. */
  memoryBytes(): number {
    return this.#call((core) => core.memory_bytes());
  }

  /** For tests: a call that hits a bug. */
  panicForTests(message: string): void {
    this.#call((core) => {
      core.panic_for_tests(given.text("message", message));
    });
  }

  #call<T>(use: (core: Pure) => T): T {
    return this.#instance.call(use);
  }
}
