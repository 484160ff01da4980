export declare class Bug extends Error {
    readonly name = "Bug";
}
export declare const PANIC = "onloop hit a bug of its own";
export type ModuleSource = Uint8Array | ArrayBuffer | object;
