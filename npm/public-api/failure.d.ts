import type { FailureFix, FailureKind } from "./vocabulary.js";
export type { FailureKind };
export declare class Failure extends Error {
    readonly name = "Failure";
    readonly kind: FailureKind;
    readonly fix?: FailureFix;
    constructor(kind: FailureKind, message: string, fix?: FailureFix);
}
