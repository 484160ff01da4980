import type { Bytes } from "./vocabulary.js";
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
} | {
    git: "keep_files";
    cwd: string;
    files: KeptFile[];
    parent: string | null;
    message: string;
    at_ms: number;
} | {
    git: "read_kept";
    cwd: string;
    commit: string;
    name: string;
    limit_bytes: number;
} | {
    git: "push_refs";
    cwd: string;
    remote: string;
    updates: RefUpdate[];
} | {
    git: "fetch_refs";
    cwd: string;
    remote: string;
    prefix: string;
};
export interface KeptFile {
    name: string;
    bytes: Bytes;
}
export interface RefUpdate {
    name: string;
    expected: string | null;
    commit: string | null;
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
