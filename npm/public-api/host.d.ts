import type { Command, Expect, FileKind, HttpMethod, LeftOut, LockHolder, ProcessGroup, ProcessIdentity, ProcessRole, ProcessStatus, Say, Shell, Version } from "./vocabulary.js";
export type { Expect, LeftOut, LockHolder, ProcessGroup, ProcessIdentity, ProcessRole, ProcessStatus, Shell, Version };
export interface Stat {
    kind: FileKind;
    sizeBytes: number;
    modifiedMs: number;
    executable: boolean;
    foreign?: boolean;
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
    lock(path: string, waitMs: number, nowMs: number, isPrivate?: boolean, role?: ProcessRole): Promise<void>;
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
    launch?(argv: string[], waitMs: number): Promise<void>;
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
    keepFiles?(cwd: string, made: NewFiles): Promise<string>;
    readKept?(cwd: string, commit: string, name: string, limitBytes: number): Promise<Uint8Array>;
    pushRefs?(cwd: string, remote: string, updates: RefUpdate[]): Promise<void>;
    fetchRefs?(cwd: string, remote: string, prefix: string): Promise<NamedCheckpoint[]>;
}
export interface NewFiles {
    files: {
        name: string;
        bytes: Uint8Array;
    }[];
    parent?: string;
    message: string;
    atMs: number;
}
export interface RefUpdate {
    name: string;
    expected?: string;
    commit?: string;
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
export interface Changes {
    changes(folders: string[], waitMs: number): Promise<boolean>;
}
export interface Call {
    call: number;
    method: string;
    target: string;
    headers: [
        name: string,
        value: string
    ][];
    body: Uint8Array;
}
export interface CallAnswer {
    status: number;
    headers: [
        name: string,
        value: string
    ][];
    body: Uint8Array;
    open: boolean;
}
export interface Serve {
    listen(port: number): Promise<{
        port: number;
        secret: Uint8Array;
    }>;
    next(waitMs: number | undefined, folders: string[]): Promise<Call | undefined>;
    answer(call: number, answer: CallAnswer): Promise<void>;
    push(call: number, bytes: Uint8Array): Promise<void>;
    close(): Promise<void>;
}
export interface Clock {
    nowMs(): number;
    sleep(durationMs: number): Promise<void>;
}
export interface Terminal {
    say(to: Say["to"], text: string): Promise<void>;
    ask(question: string): Promise<string>;
    readInput?(limitBytes: number, waitMs?: number): Promise<Uint8Array | undefined>;
    readBytes?(limitBytes: number, waitMs?: number): Promise<Uint8Array | undefined>;
}
export interface Host {
    files: Files;
    locks: Locks;
    processes: Processes;
    git: Git;
    changes?: Changes;
    servers?: Servers;
    serve?: Serve;
    clock: Clock;
    terminal: Terminal;
}
