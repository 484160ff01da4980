export declare class Bug extends Error {
    readonly name = "Bug";
}
export declare const PANIC = "internal error in onloop";
export type ModuleSource = Uint8Array | ArrayBuffer | object;
