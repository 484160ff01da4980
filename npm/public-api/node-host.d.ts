import type { Failure } from "../failure.js";
import type { Host, HostRequest } from "../host.js";
import type { Outcome, Start } from "../vocabulary.js";
export interface NodeHostOptions {
    cwd?: string;
    frozenMs?: number;
    attended?: boolean;
    gitTimeoutMs?: number;
}
export declare class NodeHost implements Host {
    #private;
    readonly cwd: string;
    constructor(options?: NodeHostOptions);
    nowMs(): number;
    perform(request: HostRequest): Promise<Outcome>;
    end(): Promise<void>;
    interrupt(): void;
    abandon(): void;
    get terminalLent(): boolean;
    get lostOutput(): Failure | undefined;
    start(argv: string[], env?: Record<string, string>): Start;
}
