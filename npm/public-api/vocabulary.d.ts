import type { GitRequest, GitSurvey, KeptWork, NamedCheckpoint, WorktreeEntry } from "./git_vocabulary.js";
export type * from "./git_vocabulary.js";
import type { ProcessEnd, ProcessGroup, ProcessSpec } from "./process_vocabulary.js";
export type * from "./process_vocabulary.js";
import type { ServeRequest, WebCall } from "./serve_vocabulary.js";
export type * from "./serve_vocabulary.js";
import type { ProcessIdentity, ProcessRole } from "./start_vocabulary.js";
export type * from "./start_vocabulary.js";
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
    role?: ProcessRole | null;
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
} | {
    do: "launch";
    argv: string[];
    wait_ms: number;
} | ({
    do: "git";
} & GitRequest) | ({
    do: "http";
} & HttpSpec) | ({
    do: "serve";
} & ServeRequest) | {
    do: "ask";
    question: string;
} | {
    do: "read_input";
    limit_bytes: number;
    wait_ms: number | null;
    unit?: InputUnit;
} | {
    do: "changes";
    folders: string[];
    wait_ms: number;
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
export type InputUnit = "lines" | "bytes";
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
} | {
    is: "kept_file";
    bytes: Bytes;
} | ({
    is: "http";
} & HttpAnswer) | {
    is: "listening";
    port: number;
    secret: Bytes;
} | ({
    is: "call";
} & WebCall) | {
    is: "no_call";
} | {
    is: "answer";
    answer: string;
} | {
    is: "input";
    bytes: Bytes;
} | {
    is: "no_input";
} | {
    is: "changed";
    changed: boolean;
};
export interface Stat {
    kind: FileKind;
    size_bytes: number;
    modified_ms: number;
    executable: boolean;
    foreign?: boolean;
}
export type FileKind = "file" | "folder" | "link" | "other";
export interface LockHolder {
    process: ProcessIdentity;
    live: boolean;
    role?: ProcessRole | null;
}
export interface HttpAnswer {
    status: number;
    body: Bytes;
}
export interface Failure {
    kind: FailureKind;
    message: string;
}
export type FailureKind = "not_found" | "exists" | "conflict" | "denied" | "full" | "too_large" | "invalid" | "busy" | "closed" | "interrupted" | "unsupported" | "unknown" | "other";
