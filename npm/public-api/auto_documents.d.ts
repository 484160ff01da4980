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
