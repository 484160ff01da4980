export interface Start {
    argv: string[];
    program?: string[];
    env: Record<string, string>;
    cwd: string;
    now_ms: number;
    terminal: Terminal;
    process: ProcessIdentity;
    role?: ProcessRole | null;
    quick_ms?: number;
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
export type ProcessRole = "embedded" | "server";
