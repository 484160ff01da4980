import type { Failure } from "../failure.js";
import type { Changes, Clock, Files, Git, Host, Locks, Processes, Serve, Servers, Terminal } from "../host.js";
import type { Start } from "../vocabulary.js";
export interface NodeHostOptions {
    cwd?: string;
    frozenMs?: number;
    attended?: boolean;
    gitTimeoutMs?: number;
}
export declare class NodeHost implements Host {
    #private;
    readonly cwd: string;
    readonly files: Files;
    readonly changes: Changes;
    readonly locks: Locks;
    readonly processes: Processes;
    readonly git: Git;
    readonly servers: Servers;
    readonly serve: Serve;
    readonly clock: Clock;
    readonly terminal: Terminal;
    constructor(options?: NodeHostOptions);
    interrupt(): void;
    abandon(): void;
    get terminalLent(): boolean;
    get lostOutput(): Failure | undefined;
    start(argv: string[], env?: Record<string, string>): Start;
}
