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
