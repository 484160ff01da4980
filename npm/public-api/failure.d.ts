import type { FailureKind } from "./vocabulary.js";
export type { FailureKind };
export declare class Failure extends Error {
    readonly name = "Failure";
    readonly kind: FailureKind;
    constructor(kind: FailureKind, message: string);
}
