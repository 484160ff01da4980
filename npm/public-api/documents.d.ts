import type { Mechanism, Network } from "./vocabulary.js";
export type * from "./auto_documents.js";
export type RunRecord = string;
export interface Span {
    start: number;
    end: number;
    line: number;
    column: number;
    end_line: number;
    end_column: number;
}
export interface Diagnostic extends Span {
    code: string;
    severity: "error" | "warning";
    message: string;
    help: string | null;
    fix: Fix | null;
}
export interface Fix {
    title: string;
    edits: Edit[];
}
export interface Edit {
    start: number;
    end: number;
    text: string;
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
export type ReviewVerdict = "READY" | "READY WITH WARNINGS" | "NOT READY" | "NO VERDICT" | "NOT REVIEWED";
export type RunEvent = {
    event: "step_started";
    step: number;
} | {
    event: "step_acted";
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
    event: "step_blocked";
    step: number;
    reason: string;
} | {
    event: "step_redone";
    step: number;
    reason: string;
} | {
    event: "step_reopened";
    step: number;
    reason: string;
} | {
    event: "gate_decided";
    step: number;
    decision: GateDecision;
    mode: GateMode;
} | {
    event: "review_finished";
    step: number | null;
    verdict: ReviewVerdict;
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
    interrupted?: boolean;
} | {
    event: "run_abandoned";
    reason: string;
} | {
    event: "verdict_accepted";
} | {
    event: "run_resumed";
} | {
    event: "run_finalized";
};
export type GateDecision = "approved" | "rejected";
export type GateMode = "auto" | "human";
export type Next = {
    run_id: string;
    status: RunStatus;
} & NextAction;
export type NextAction = {
    action: "start";
    step: number;
    attempt: number;
} | {
    action: "act";
    step: number;
} | {
    action: "verify";
    step: number;
} | {
    action: "approve";
    step: number;
} | {
    action: "block";
    step: number;
    reason: string;
} | {
    action: "review";
    step: number | null;
} | {
    action: "ask-gate";
    step: number;
} | {
    action: "ask-review";
    step: number;
    prompt: string;
} | {
    action: "ask-verdict";
    step: number | null;
} | {
    action: "ask-interrupted";
    step: number;
} | {
    action: "ask-budget";
    step: number;
} | {
    action: "repeat-checks";
} | {
    action: "finalize";
} | {
    action: "blocked";
    step: number;
    reason: string;
    rejected: boolean;
} | {
    action: "finished";
};
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
    source_workflow_path: string | null;
    source_branch: string | null;
    source_head: string | null;
    workflow_slug: string;
    intent: string;
    branch: string | null;
    repo_root: string | null;
    execution_root: string;
    worktree_path: string | null;
    executor_mode: string;
    driver: string | null;
    host: string | null;
    started_at: string;
    last_update: string;
    completed_at: string | null;
    current_step: number | null;
    current_steps: number[];
    total_steps: number;
    completed_steps: number;
    failed_steps: number;
    blocked_steps: number;
    unchecked: number;
    verified_on: "worktree" | "clean_checkout";
    report_path: string;
    finish: FinishView;
    pull_request: PullRequestView | null;
    steps: {
        number: number;
        name: string;
        status: StepStatus;
        attempts: number;
        verify_passed: boolean | null;
        checked: boolean;
        gate_result: GateDecision | null;
        gate_mode: GateMode | null;
        block_reason: string | null;
        warnings: WarningView[];
        inputs: InputsView[];
        agent: string | null;
        session: string | null;
        denied: number;
        usage: UsageView;
        checks?: CheckView[];
        fork?: ForkView;
    }[];
    usage: UsageView;
    confined: HoldView[];
    review: {
        step: number | null;
        verdict: ReviewVerdict;
        findings: string;
    } | null;
    asks?: AsksView;
}
export interface ForkView {
    run: string;
    base: string;
    state: "working" | "merging" | "merged" | "outdated";
    merged?: string;
    conflicts?: string[];
    failure?: string;
}
export type StepStatus = "pending" | "in_progress" | "done" | "failed" | "blocked";
export interface PullRequestView {
    url: string;
    remote: string;
    target_branch: string | null;
    state: "pending" | "green" | "red" | "merged" | "closed";
    since: string;
    repair_limit: number;
    repairs?: {
        cause: "checks" | "conflict" | "review";
        reason: string;
        commit: string;
        reviews?: string[];
    }[];
    left: string | null;
}
export interface FinishView {
    disposition: "keep" | "merge" | "publish" | "discard" | null;
    recorded_at: string | null;
    target_branch: string | null;
    remote: string | null;
    pr_url: string | null;
    branch_action: string | null;
    worktree_action: string | null;
    artifacts_preserved_at: string | null;
    notes: string | null;
}
export interface CheckView {
    what: string;
    result: "passed" | "failed" | "waits" | "open";
    reason: string | null;
    took_ms: number | null;
    at: string | null;
    warnings: string[];
    opened?: string;
}
export interface AsksView {
    step: number | null;
    question: string;
    is_gate: boolean;
    type_name: string | null;
    facts: FactsView | null;
    seen: string;
}
export interface FactsView {
    text: string;
    action: string;
    risk: "low" | "medium" | "high";
    checks: CheckView[];
    earlier: string[];
    changes: string;
    own_changes: string;
    said: string;
    since_step: number | null;
    changes_unknown: string | null;
    review: {
        verdict: ReviewVerdict;
        findings: string;
    } | null;
}
export interface CheckView {
    what: string;
    result: "passed" | "failed" | "waits" | "open";
    reason: string | null;
    took_ms: number | null;
    at: string | null;
    warnings: string[];
    opened?: string;
}
export interface HoldView {
    worker: "agent" | "check" | "review" | "setup";
    step: number;
    by?: Mechanism;
    network?: Network;
    caches?: string[];
    why?: string;
}
export interface ChangedFileView {
    path: string;
    found: "opened" | "named";
    change: "changed" | "created" | "removed";
    hides?: boolean;
    expected?: boolean;
    steps?: number[];
    added?: number;
    removed?: number;
}
export interface InputsView {
    check: number;
    observed: boolean;
    files: ChangedFileView[];
    more: number;
}
export interface WarningView extends Partial<ChangedFileView> {
    kind: "check_changed" | "check_unseen" | "passed_before" | "no_test_count" | "failures_reported" | "failures_ignored";
    check: number;
    text: string;
    reason?: string;
    runner?: string;
    failed?: number;
}
export interface Receipt {
    schema: "hotl.receipt/v1";
    run: {
        run_id: string;
        workflow_path: string;
        workflow_slug: string;
        plan_digest: string;
        status: RunStatus;
        revision: number;
        branch: string | null;
        source_head: string | null;
        started_at: string;
        completed_at: string | null;
    };
    implementation: {
        driver: string | null;
        host: string | null;
    };
    evidence: {
        number: number;
        status: StepStatus;
        attempts: number;
        checked: boolean;
        verification: {
            required: boolean;
            type: "shell" | "browser" | "human-review" | "artifact" | "multi" | null;
            reference: string | null;
            passed: boolean | null;
        };
        gate: {
            required: boolean;
            required_mode: GateMode | null;
            configured: "human" | "auto" | null;
            result: GateDecision | null;
            mode: GateMode | null;
        };
        block_reason: string | null;
        warnings: WarningView[];
        inputs: InputsView[];
        fork?: ForkView;
    }[];
    unchecked: number;
    verified_on: "worktree" | "clean_checkout";
    checks_repeated_at_end: boolean;
    finish: FinishView;
    sufficiency: {
        sufficient: boolean;
        reasons: string[];
    };
    redaction: {
        contains_output: false;
        contains_prompts: false;
    };
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
        containable: boolean;
        to_change_it: string | null;
        depth: number;
        decision: Decision;
        rule: string | null;
        reason: string | null;
    }[];
    notes: string[];
}
export interface Captured {
    exit: number;
    result: string;
    notes: string;
}
