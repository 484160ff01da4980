import type { Bytes } from "./vocabulary.js";
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
