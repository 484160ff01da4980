// api.d.ts
export { Core, EXIT_BUG } from "./core.js";
export type * from "./documents.js";
export { Failure, type FailureKind } from "./failure.js";
export type * from "./host.js";
export { Bug } from "./instance.js";
export { PureCore } from "./pure_core.js";
export type * from "./session_documents.js";
export type { Start } from "./vocabulary.js";

// core.d.ts
import type { Outcome } from "./documents.js";
import { Functions } from "./functions.js";
import type { Host, Secret } from "./host.js";
import { type ModuleSource } from "./instance.js";
import type { Start } from "./vocabulary.js";
export declare const EXIT_BUG = 70;
export declare const TRACE = "ONLOOP_TRACE";
export declare class Core extends Functions {
    #private;
    constructor(module: ModuleSource);
    capture(start: Start, host: Host): Promise<Outcome>;
    run(start: Start, host: Host, trace?: (line: string) => void): Promise<number>;
    secrets(env: Readonly<Record<string, string>>): Secret[];
    brokenHookAnswer(argv: readonly string[]): string | undefined;
    recordingCommand(argv: readonly string[]): string | undefined;
}

// documents.d.ts
import type { Mechanism, Network } from "./vocabulary.js";
export type RunRecord = string;
export interface Diagnostic {
    code: string;
    severity: "error" | "warning";
    message: string;
    help: string | null;
    start: number;
    end: number;
    fix: Fix | null;
}
export interface Fix {
    title: string;
    edits: {
        start: number;
        end: number;
        text: string;
    }[];
}
export interface Span {
    start: number;
    end: number;
}
export interface Outline {
    frontmatter: Span | null;
    steps: {
        number: number;
        name: string;
        title: Span;
        span: Span;
    }[];
}
export interface Field {
    section: "frontmatter" | "step" | "check" | "assert";
    name: string;
    about: string;
    default: string;
    values: string[];
    types: string[];
}
export interface Beginning {
    id?: string;
    at_ms: number;
    auto_approve?: boolean;
    reverify?: boolean;
    review_agent?: string;
    place?: {
        workflow_path?: string;
        source_workflow_path?: string;
        source_branch?: string;
        source_head?: string;
        branch?: string;
        repo_root?: string;
        execution_root?: string;
        worktree_path?: string;
        executor_mode?: string;
        report_path?: string;
    };
}
export interface CheckResult {
    check: number;
    verdict: "passed" | "failed" | "needs_human" | "cannot_evaluate";
    reason?: string;
    stdout: string;
    stderr: string;
}
export type RunEvent = {
    event: "step_started" | "step_acted";
    step: number;
} | {
    event: "action_failed";
    step: number;
    reason: string;
    output: string;
} | {
    event: "step_verified";
    step: number;
    results: CheckResult[];
} | {
    event: "step_blocked" | "step_redone" | "step_reopened";
    step: number;
    reason: string;
} | {
    event: "gate_decided";
    step: number;
    decision: "approved" | "rejected";
    mode: "auto" | "human";
} | {
    event: "review_finished";
    step: number | null;
    verdict: string;
    findings: string;
    base: string | null;
} | {
    event: "checks_repeated";
    repeated: number;
    failures: [
        number,
        CheckResult
    ][];
} | {
    event: "run_paused";
    reason: string;
} | {
    event: "verdict_accepted" | "run_resumed" | "run_finalized";
};
export interface Next {
    run_id: string;
    status: RunStatus;
    action: "start" | "act" | "verify" | "approve" | "block" | "review" | "ask-gate" | "ask-review" | "ask-verdict" | "ask-interrupted" | "repeat-checks" | "finalize" | "blocked" | "finished";
    step?: number | null;
    attempt?: number;
    reason?: string;
    prompt?: string;
    rejected?: boolean;
}
export type RunStatus = "running" | "paused" | "blocked" | "ready_to_finish" | "completed" | "abandoned";
export interface UsageView {
    input_tokens: number | null;
    cached_input_tokens: number | null;
    output_tokens: number | null;
    cost_usd: number | null;
    cost_estimated_as_of?: string;
}
export interface RunView {
    run_id: string;
    status: RunStatus;
    workflow_path: string;
    intent: string;
    branch: string | null;
    execution_root: string;
    total_steps: number;
    completed_steps: number;
    failed_steps: number;
    blocked_steps: number;
    report_path: string;
    steps: {
        number: number;
        name: string;
        status: "pending" | "in_progress" | "done" | "failed" | "blocked";
        attempts: number;
        verify_passed: boolean | null;
        gate_result: string | null;
        gate_mode: string | null;
        block_reason: string | null;
        remarks: RemarkView[];
        agent: string | null;
        session: string | null;
        denied: number;
        usage: UsageView;
    }[];
    usage: UsageView;
    confined: HoldView[];
    review: {
        step: number | null;
        verdict: string;
        findings: string;
    } | null;
    [other: string]: unknown;
}
export interface HoldView {
    worker: "agent" | "check" | "review" | "setup";
    step: number;
    by?: Mechanism;
    network?: Network;
    why?: string;
}
export interface RemarkView {
    kind: "check_changed" | "check_unseen";
    check: number;
    text: string;
    path?: string;
    steps?: number[];
    added?: number;
    removed?: number;
    reason?: string;
}
export interface Receipt {
    schema: "hotl.receipt/v1";
    sufficiency: {
        sufficient: boolean;
        reasons: string[];
    };
    [other: string]: unknown;
}
export interface ToolCall {
    tool: string;
    input?: unknown;
    cwd: string;
    home?: string | null;
    session?: {
        id: string;
        workflow?: string;
    } | null;
    git_branch?: string | null;
    confined?: boolean;
    config?: {
        project?: string;
        project_trusted?: boolean;
        local?: string;
    } | null;
}
export type Decision = "allow" | "ask" | "deny";
export interface Ruling {
    decision: Decision;
    rule: string;
    reason: string;
}
export interface Explanation extends Ruling {
    commands: {
        name: string;
        words: string[];
        about: string;
        class: string | null;
        table: string;
        source: string;
        held: boolean;
        to_change_it: string | null;
        depth: number;
        decision: Decision;
        rule: string | null;
        reason: string | null;
    }[];
    notes: string[];
}
export interface Task {
    id: string;
    title: string;
    status: string;
}
export type TaskStatus = "pending" | "in-progress" | "completed" | "blocked";
export interface Progress {
    rows: Task[];
    tasks: "none" | "settled" | "active";
    next: Task | null;
    finished: boolean;
}
export interface Feature {
    status: string | null;
    ready: boolean;
}
export type Profile = "v1" | "v2" | "v3" | "route";
export interface RouteFacts {
    context: boolean;
    tasks: "none" | "settled" | "active" | null;
    ready_feature: boolean;
    artifacts: boolean;
    summary: boolean;
}
export interface Route {
    child: "rw-planner" | "rw-loop" | null;
    marker: string | null;
    reason: string;
}
export type RehearsedFile = string | {
    content: string;
    mtime?: string;
} | {
    unreadable: string;
    mtime?: string;
};
export interface Scenario {
    id?: unknown;
    profile?: Profile;
    now: string;
    argument?: string | null;
    env?: {
        run_subagent: boolean;
    };
    tree?: Record<string, RehearsedFile>;
    health?: string | string[];
    health_patch?: Record<string, RehearsedFile | null>;
    children?: {
        result?: unknown;
        error?: "threw" | "timeout" | "cancelled" | "unavailable";
        tree_patch?: Record<string, RehearsedFile | null>;
        takes_s?: number;
    }[];
}
export interface Rehearsal {
    id: unknown;
    lines: string[];
    dispatches: {
        target: string;
        argument: string;
    }[];
    lock_present: boolean;
}
export type AutoLine = {
    dispatch: {
        target: string;
        argument: string;
        result_file: string;
    };
} | {
    stop: {
        exit: number;
        next_command: string;
    };
};
export interface Outcome {
    exit: number;
    result: string;
    notes: string;
}

// failure.d.ts
import type { FailureKind } from "./vocabulary.js";
export type { FailureKind };
export declare class Failure extends Error {
    readonly name = "Failure";
    readonly kind: FailureKind;
    constructor(kind: FailureKind, message: string);
}

// functions.d.ts
import type { Beginning, Diagnostic, Explanation, Feature, Field, Next, Outline, Profile, Progress, Receipt, Rehearsal, Route, RouteFacts, Ruling, RunEvent, RunRecord, RunView, Scenario, TaskStatus, ToolCall } from "./documents.js";
import type { AgentHost, HookAnswer, HookEvent, OwnWorkflow, SessionAnswer, SessionConfig, SessionEnding, SessionRecord, SessionStop, SessionView, Started } from "./session_documents.js";
export declare class Functions {
    #private;
    version(): string;
    parseTime(text: string): number | undefined;
    classify(path: string, text: string): "workflow" | "design" | "other";
    lint(path: string, text: string): Diagnostic[];
    fix(path: string, text: string): {
        text: string;
        applied: number;
    };
    outline(path: string, text: string): Outline;
    fields(): Field[];
    normalize(path: string, text: string): object | undefined;
    begin(path: string, text: string, beginning: Beginning): RunRecord;
    apply(record: RunRecord, atMs: number, event: RunEvent): RunRecord;
    next(record: RunRecord): Next;
    view(record: RunRecord): RunView;
    report(record: RunRecord): string;
    summary(record: RunRecord, platform: "claude" | "codex" | "cline"): string;
    prompt(record: RunRecord, step: number): string;
    receipt(record: RunRecord): Receipt;
    decide(call: ToolCall): Ruling;
    explain(call: ToolCall): Explanation;
    isTrusted(list: string, content: string): boolean;
    setTrusted(list: string, content: string, trusted: boolean): string;
    startedBy(prompt: string, own?: readonly OwnWorkflow[]): Started | undefined;
    sessionBegin(id: string, prompt: string, atMs: number, own?: readonly OwnWorkflow[]): SessionRecord | undefined;
    sessionPrompted(id: string, session: SessionRecord, atMs: number, text: string, promptId?: string): SessionRecord;
    sessionStopped(id: string, session: SessionRecord, atMs: number, stop: SessionStop): SessionAnswer;
    sessionEnd(id: string, session: SessionRecord, atMs: number, ending: SessionEnding, reason?: string): SessionRecord;
    sessionView(id: string, session: SessionRecord, file?: string): SessionView;
    readConfig(yaml: string, folder: string, variables?: Readonly<Record<string, string | undefined>>): SessionConfig;
    hookEvent(host: AgentHost, input: string): HookEvent;
    hookAnswer(host: AgentHost, event: HookEvent["event"], answer: HookAnswer): string;
    readProgress(text: string): Progress;
    withTaskStatus(text: string, id: string, status: TaskStatus, commit?: string): string | undefined;
    readFeature(text: string): Feature;
    route(profile: Profile, facts: RouteFacts): Route;
    rehearse(scenario: Scenario): Rehearsal;
    memoryBytes(): number;
    panicForTests(message: string): void;
}

// host.d.ts
import type { Command, Expect, FileKind, HttpMethod, LeftOut, LockHolder, ProcessGroup, ProcessIdentity, ProcessStatus, Say, Shell, Version } from "./vocabulary.js";
export type { Expect, LeftOut, LockHolder, ProcessGroup, ProcessIdentity, ProcessStatus, Shell, Version };
export interface Stat {
    kind: FileKind;
    sizeBytes: number;
    modifiedMs: number;
    executable: boolean;
}
export interface Files {
    read(path: string, limitBytes: number): Promise<{
        bytes: Uint8Array;
        version: Version;
    }>;
    readTail(path: string, limitBytes: number): Promise<{
        bytes: Uint8Array;
        sizeBytes: number;
    }>;
    write(path: string, bytes: Uint8Array, expect: Expect, durable: boolean, isPrivate?: boolean): Promise<Version>;
    append(path: string, bytes: Uint8Array, expectLenBytes: number, durable: boolean, isPrivate?: boolean): Promise<void>;
    patch(path: string, offsetBytes: number, old: Uint8Array, neu: Uint8Array): Promise<void>;
    remove(path: string): Promise<void>;
    list(path: string): Promise<string[]>;
    stat(path: string): Promise<Stat>;
    canonical(path: string): Promise<string>;
}
export interface Locks {
    lock(path: string, waitMs: number, nowMs: number, isPrivate?: boolean): Promise<void>;
    unlock(path: string): Promise<void>;
    holder?(path: string): Promise<LockHolder | undefined>;
    releaseAll(): Promise<void>;
}
export interface ProcessSpec {
    command: Command;
    cwd: string;
    envRemove: string[];
    envSet: Record<string, string>;
    stdin?: Uint8Array;
    timeoutMs?: number;
    captureBytes: number;
    streamTo?: string;
    secrets?: Secret[];
    isPrivate?: boolean;
    label?: string;
    interactive: boolean;
    wakeAfterMs?: number;
    wakeOnInput?: boolean;
    wakeOnLines?: boolean;
    announce?: boolean;
}
export interface Secret {
    form: string;
    placeholder: string;
}
export interface Capture {
    head: Uint8Array;
    tail: Uint8Array;
    totalBytes: number;
}
export interface ProcessEnd {
    status: ProcessStatus;
    stdout: Capture;
    stderr: Capture;
    durationMs: number;
}
export type ProcessTurn = ProcessEnd | "running" | {
    started: ProcessGroup;
} | {
    lines: Uint8Array;
};
export interface Processes {
    run(spec: ProcessSpec): Promise<ProcessTurn>;
    wait?(wakeAfterMs?: number, wakeOnInput?: boolean, activity?: string): Promise<ProcessTurn>;
    endLeft?(): Promise<void>;
    ancestors?(): Promise<ProcessIdentity[]>;
    endGroup?(group: ProcessGroup, host: string, mark?: string): Promise<number>;
}
export interface Repository {
    root: string;
    mainRoot: string;
    linked: boolean;
    branch?: string;
    head?: string;
    dirty: string[];
    targetCommit?: string;
    targetCheckedOutAt?: string;
}
export interface Worktree {
    path: string;
    branch?: string;
}
export interface NewCheckpoint {
    index: string;
    name: string;
    parent?: string;
    message: string;
    atMs: number;
    limitBytes: number;
    programs?: string;
}
export interface NewCommit {
    index: string;
    branch: string;
    head: string;
    kept: string;
    without: string[];
    message: string;
}
export interface KeptWork {
    commit: string;
    tree: string;
    programs: string;
    leftOut: LeftOut[];
}
export interface NamedCheckpoint {
    name: string;
    commit: string;
    atMs: number;
}
export interface Git {
    survey(cwd: string, branch: string): Promise<Repository | undefined>;
    worktrees(cwd: string): Promise<Worktree[]>;
    head(cwd: string): Promise<string | undefined>;
    createWorktree(cwd: string, path: string, branch: string, createAt?: string): Promise<void>;
    removeWorktree(cwd: string, path: string): Promise<void>;
    switch(cwd: string, branch: string, create: boolean): Promise<void>;
    deleteBranch(cwd: string, branch: string): Promise<void>;
    mergeBase(cwd: string, commit: string, branch: string): Promise<string | undefined>;
    remoteBranch(cwd: string, remote: string, branch: string): Promise<string | undefined>;
    merge(cwd: string, branch: string, commit: string, into: string): Promise<void>;
    push(cwd: string, remote: string, branch: string): Promise<void>;
    stash(cwd: string, message: string, paths: string[]): Promise<void>;
    checkpoint?(cwd: string, made: NewCheckpoint): Promise<KeptWork>;
    restore?(cwd: string, index: string, commit: string, paths: string[], programs?: string): Promise<void>;
    diff?(cwd: string, ends: [
        from: string,
        to: string
    ], isStat: boolean, paths: string[], limitBytes: number): Promise<Uint8Array>;
    commitKept?(cwd: string, made: NewCommit): Promise<string>;
    changedPaths?(cwd: string, from: string, to: string): Promise<string[]>;
    checkpoints?(cwd: string): Promise<NamedCheckpoint[]>;
    forgetCheckpoint?(cwd: string, name: string, commit: string): Promise<void>;
    note?(cwd: string, commit: string, text: string, atMs: number): Promise<void>;
}
export interface HttpSpec {
    method: HttpMethod;
    url: string;
    headers: [
        name: string,
        value: string
    ][];
    body?: Uint8Array;
    timeoutMs: number;
    limitBytes: number;
}
export interface HttpAnswer {
    status: number;
    body: Uint8Array;
}
export interface Servers {
    http(spec: HttpSpec): Promise<HttpAnswer>;
}
export interface Clock {
    nowMs(): number;
    sleep(durationMs: number): Promise<void>;
}
export interface Terminal {
    say(to: Say["to"], text: string): Promise<void>;
    ask(question: string): Promise<string>;
    readInput?(limitBytes: number, waitMs?: number): Promise<Uint8Array | undefined>;
}
export interface Host {
    files: Files;
    locks: Locks;
    processes: Processes;
    git: Git;
    servers?: Servers;
    clock: Clock;
    terminal: Terminal;
}

// index.d.ts
import { Core } from "./core.js";
export * from "./api.js";
export { NodeHost, type NodeHostOptions } from "./node/host.js";
export declare function load(): Core;

// inline.d.ts
import { Core } from "./core.js";
export * from "./api.js";
export declare function load(): Core;

// instance.d.ts
export declare class Bug extends Error {
    readonly name = "Bug";
}
export declare const PANIC = "onloop hit a bug of its own";
export type ModuleSource = Uint8Array | ArrayBuffer | object;

// node/host.d.ts
import type { Failure } from "../failure.js";
import type { Clock, Files, Git, Host, Locks, Processes, Servers, Terminal } from "../host.js";
import type { Start } from "../vocabulary.js";
export interface NodeHostOptions {
    cwd?: string;
    frozenMs?: number;
    attended?: boolean;
}
export declare class NodeHost implements Host {
    #private;
    readonly cwd: string;
    readonly files: Files;
    readonly locks: Locks;
    readonly processes: Processes;
    readonly git: Git;
    readonly servers: Servers;
    readonly clock: Clock;
    readonly terminal: Terminal;
    constructor(options?: NodeHostOptions);
    interrupt(): void;
    abandon(): void;
    get terminalLent(): boolean;
    get lostOutput(): Failure | undefined;
    start(argv: string[], env?: Record<string, string>): Start;
}

// pure.d.ts
import { PureCore } from "./pure_core.js";
export type * from "./documents.js";
export { Bug } from "./instance.js";
export { PureCore } from "./pure_core.js";
export type * from "./session_documents.js";
export declare function load(): PureCore;

// pure_core.d.ts
import { Functions } from "./functions.js";
import { type ModuleSource } from "./instance.js";
export declare class PureCore extends Functions {
    constructor(module: ModuleSource);
}

// session_documents.d.ts
import type { Decision, RunRecord } from "./documents.js";
export interface Started {
    workflow: string;
    issue_no: number | null;
    pr_no: number | null;
}
export interface OwnWorkflow {
    command: string;
    name: string;
}
export type SessionRecord = string;
export type SessionEnding = "done" | "error" | "stopped";
export interface SessionStop {
    max_continuations: number;
    host_cap?: {
        in_a_row: number;
    } | {
        total: number;
    } | null;
    message?: string | null;
    tools?: boolean | null;
    api_error?: string | null;
    transcript?: {
        tail: string;
        whole: boolean;
    } | null;
    file: string;
    resume: string;
    plan?: {
        path: string;
        text: string;
    } | null;
    template?: string | null;
    run?: RunRecord | null;
}
export type SessionAnswer = {
    session: SessionRecord;
} & ({
    said: "nothing";
} | {
    said: "go-on";
    prompt: string;
    number: number;
    maximum: number;
} | {
    said: "over";
    reason: string;
} | {
    said: "tell";
    message: string;
});
export interface SessionView {
    session_id: string;
    status: "open" | "paused" | "done" | "completed" | "error" | "failed" | "stopped";
    file: string;
    workflow: string;
    state: string;
    continuation_count: number;
    issue_no?: number;
    pr_no?: number;
    pr_number?: number;
    run_id?: string;
    reason?: string;
    updated_at?: string;
    [member: string]: unknown;
}
export interface SessionConfig {
    enabled: boolean;
    max_continuations: number;
    auto_permission: boolean;
    debug: boolean;
    supervisor: {
        provider: "none" | "claude" | "codex" | "cursor" | "opencode";
        model: string | null;
        flags: string[];
    };
    telegram: {
        chat_id: number;
        timeout_ms: number;
        poll_interval_ms: number;
        allowed_user_ids: number[];
    } | null;
    workflows: (OwnWorkflow & {
        prompt_file: string;
    })[];
    notes: string[];
}
export type AgentHost = "claude" | "codex" | "cursor" | "vscode" | "opencode" | "cline" | "copilot";
export type HookEvent = {
    session: string | null;
    cwd: string | null;
    transcript: string | null;
} & ({
    event: "prompt";
    text: string;
    id: string | null;
    typed: boolean;
} | {
    event: "tool-call" | "permission-request";
    tool: string;
    input: unknown;
} | {
    event: "tool-done";
    tool: string;
    input: unknown;
    output: string;
} | {
    event: "stop";
    message: string | null;
    broken_off: boolean;
} | {
    event: "other";
});
export type HookAnswer = {
    decision: Decision | "defer";
    reason?: string;
} | {
    go_on: string;
} | {
    tell: string;
} | Record<string, never>;

// slim.d.ts
export * from "./api.js";

// vocabulary.d.ts
export interface Start {
    argv: string[];
    program?: string[];
    env: Record<string, string>;
    cwd: string;
    now_ms: number;
    terminal: Terminal;
    process: ProcessIdentity;
    random: string;
}
export interface Terminal {
    stdin: boolean;
    stdout: boolean;
    stderr: boolean;
    columns: number;
}
export interface ProcessIdentity {
    pid: number;
    host: string;
    started: string;
}
export type Turn = {
    request: Request;
} | {
    exit: Exit;
};
export type Request = {
    do: "read";
    path: string;
    limit_bytes: number;
} | {
    do: "read_tail";
    path: string;
    limit_bytes: number;
} | {
    do: "write";
    path: string;
    bytes: Bytes;
    expect: Expect;
    durable: Durability;
    private: boolean;
} | {
    do: "append";
    path: string;
    bytes: Bytes;
    expect_len_bytes: number;
    durable: Durability;
    private: boolean;
} | {
    do: "patch";
    path: string;
    offset_bytes: number;
    old: Bytes;
    new: Bytes;
} | {
    do: "remove";
    path: string;
} | {
    do: "list";
    path: string;
} | {
    do: "stat";
    path: string;
} | {
    do: "canonical";
    path: string;
} | {
    do: "lock";
    path: string;
    wait_ms: number;
    private: boolean;
} | {
    do: "unlock";
    path: string;
} | {
    do: "holder";
    path: string;
} | {
    do: "ancestors";
} | ({
    do: "process";
} & ProcessSpec) | {
    do: "wait";
    wake_after_ms: number | null;
    wake_on_input: boolean;
    activity: string | null;
} | {
    do: "end";
} | {
    do: "end_group";
    group: ProcessGroup;
    host: string;
    mark: string | null;
} | ({
    do: "git";
} & GitRequest) | ({
    do: "http";
} & HttpSpec) | {
    do: "ask";
    question: string;
} | {
    do: "read_input";
    limit_bytes: number;
    wait_ms: number | null;
} | {
    do: "sleep";
    duration_ms: number;
} | ({
    do: "say";
} & Say);
export type Bytes = number;
export type Expect = "any" | "absent" | {
    version: Version;
};
export type Version = string;
export type Durability = boolean;
export interface ProcessSpec {
    command: Command;
    cwd: string;
    env_remove: string[];
    env_set: Record<string, string>;
    stdin: Bytes | null;
    timeout_ms: number | null;
    capture_bytes: number;
    stream_to: string | null;
    private: boolean;
    label: string | null;
    interactive: boolean;
    wake_after_ms: number | null;
    wake_on_input: boolean;
    wake_on_lines: boolean;
    announce: boolean;
    confine?: Confinement | null;
}
export type Command = {
    argv: string[];
} | {
    shell: Shell;
    line: string;
};
export type Shell = "bash" | "sh" | "pwsh" | "cmd";
export interface Confinement {
    may_write: string[];
    may_read: string[];
    hidden: string[];
    network: Network;
    only?: Mechanism | null;
}
export type Network = "all" | "loopback" | "none";
export type Mechanism = "bubblewrap" | "landlock" | "seatbelt";
export interface ProcessGroup {
    pid: number;
    started: string;
    boot: string;
}
export type GitRequest = {
    git: "survey";
    cwd: string;
    branch: string;
} | {
    git: "worktrees";
    cwd: string;
} | {
    git: "head";
    cwd: string;
} | {
    git: "create_worktree";
    cwd: string;
    path: string;
    branch: string;
    create_at: string | null;
} | {
    git: "remove_worktree";
    cwd: string;
    path: string;
} | {
    git: "switch";
    cwd: string;
    branch: string;
    create: boolean;
} | {
    git: "delete_branch";
    cwd: string;
    branch: string;
} | {
    git: "merge_base";
    cwd: string;
    commit: string;
    branch: string;
} | {
    git: "remote_branch";
    cwd: string;
    remote: string;
    branch: string;
} | {
    git: "merge";
    cwd: string;
    branch: string;
    commit: string;
    into: string;
} | {
    git: "push";
    cwd: string;
    remote: string;
    branch: string;
} | {
    git: "stash";
    cwd: string;
    message: string;
    paths: string[];
} | {
    git: "checkpoint";
    cwd: string;
    index: string;
    name: string;
    parent: string | null;
    message: string;
    at_ms: number;
    limit_bytes: number;
    programs: string | null;
} | {
    git: "restore";
    cwd: string;
    index: string;
    commit: string;
    paths: string[];
    programs: string | null;
} | {
    git: "diff";
    cwd: string;
    from: string;
    to: string;
    stat: boolean;
    paths: string[];
    limit_bytes: number;
} | {
    git: "changed_paths";
    cwd: string;
    from: string;
    to: string;
} | {
    git: "commit_kept";
    cwd: string;
    index: string;
    branch: string;
    head: string;
    kept: string;
    without: string[];
    message: string;
} | {
    git: "note";
    cwd: string;
    commit: string;
    text: string;
    at_ms: number;
} | {
    git: "checkpoints";
    cwd: string;
} | {
    git: "forget_checkpoint";
    cwd: string;
    name: string;
    commit: string;
};
export interface HttpSpec {
    method: HttpMethod;
    url: string;
    headers: [
        string,
        string
    ][];
    body: Bytes | null;
    timeout_ms: number;
    limit_bytes: number;
}
export type HttpMethod = "GET" | "POST";
export type Say = {
    to: "result";
    text: string;
} | {
    to: "note";
    text: string;
};
export type Exit = number;
export type Reply = {
    at_ms: number;
    outcome: Outcome;
} | {
    at_ms: number;
    failure: Failure;
};
export type Outcome = {
    is: "done";
} | {
    is: "file";
    bytes: Bytes;
    version: Version;
} | {
    is: "tail";
    bytes: Bytes;
    size_bytes: number;
} | {
    is: "written";
    version: Version;
} | {
    is: "names";
    names: string[];
} | ({
    is: "stat";
} & Stat) | {
    is: "path";
    path: string;
} | ({
    is: "process";
} & ProcessEnd) | {
    is: "running";
} | {
    is: "lines";
    bytes: Bytes;
} | {
    is: "started";
    group: ProcessGroup;
} | {
    is: "holder";
    holder: LockHolder | null;
} | {
    is: "processes";
    processes: ProcessIdentity[];
} | {
    is: "ended";
    survivors: number;
} | ({
    is: "survey";
} & GitSurvey) | {
    is: "worktrees";
    worktrees: WorktreeEntry[];
} | {
    is: "commit";
    commit: string | null;
} | ({
    is: "checkpoint";
} & KeptWork) | {
    is: "checkpoints";
    checkpoints: NamedCheckpoint[];
} | {
    is: "diff";
    bytes: Bytes;
} | ({
    is: "http";
} & HttpAnswer) | {
    is: "answer";
    answer: string;
} | {
    is: "input";
    bytes: Bytes;
} | {
    is: "no_input";
};
export interface Stat {
    kind: FileKind;
    size_bytes: number;
    modified_ms: number;
    executable: boolean;
}
export type FileKind = "file" | "folder" | "link" | "other";
export interface ProcessEnd {
    status: ProcessStatus;
    stdout: Capture;
    stderr: Capture;
    duration_ms: number;
    confined?: Mechanism | null;
}
export type ProcessStatus = {
    exited: number;
} | {
    signalled: number;
} | "timed_out" | "interrupted";
export interface Capture {
    head: Bytes;
    tail: Bytes;
    total_bytes: number;
}
export interface LockHolder {
    process: ProcessIdentity;
    live: boolean;
}
export interface GitSurvey {
    repository: Repository | null;
}
export interface Repository {
    root: string;
    main_root: string;
    linked: boolean;
    branch: string | null;
    head: string | null;
    dirty: string[];
    target_commit: string | null;
    target_checked_out_at: string | null;
}
export interface WorktreeEntry {
    path: string;
    branch: string | null;
}
export interface KeptWork {
    commit: string;
    tree: string;
    programs: string;
    left_out: LeftOut[];
}
export interface LeftOut {
    path: string;
    why: LeftOutReason;
}
export type LeftOutReason = "too_large" | "unreadable" | "no_commit";
export interface NamedCheckpoint {
    name: string;
    commit: string;
    at_ms: number;
}
export interface HttpAnswer {
    status: number;
    body: Bytes;
}
export interface Failure {
    kind: FailureKind;
    message: string;
}
export type FailureKind = "not_found" | "exists" | "conflict" | "denied" | "full" | "too_large" | "invalid" | "busy" | "closed" | "interrupted" | "unsupported" | "other";
