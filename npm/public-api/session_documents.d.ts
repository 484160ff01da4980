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
    said: "continue";
    prompt: string;
    number: number;
    maximum: number;
} | {
    said: "over";
    reason: string;
} | {
    said: "message";
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
    run_revision?: number;
    begins_run_at?: string;
    paused_by?: "question" | "person" | "silence";
    reason?: string;
    in_a_row?: number;
    stalled?: number;
    stop?: {
        place: string;
        echoes: number;
    };
    last_message?: string;
    last_prompt?: string;
    prompt_id?: string;
    limited_until?: string;
    limited_since?: string;
    tasks_since?: string;
    tasks?: string[];
    pending_notifications?: string[];
    updated_at?: string;
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
    event: "compacted";
} | {
    event: "other";
});
export type HookAnswer = {
    decision: Decision | "defer";
    reason?: string;
} | {
    continue: string;
} | {
    system_message: string;
} | {
    additional_context: string;
} | Record<string, never>;
