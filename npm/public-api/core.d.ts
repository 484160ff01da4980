import type { Captured } from "./documents.js";
import { Functions } from "./functions.js";
import type { Host, Secret } from "./host.js";
import { type ModuleSource } from "./instance.js";
import { Language } from "./language.js";
import type { Start } from "./vocabulary.js";
export declare const EXIT_BUG = 70;
export declare const TRACE = "ONLOOP_TRACE";
export declare class Core extends Functions {
    #private;
    readonly language: Language;
    constructor(module: ModuleSource);
    capture(start: Start, host: Host): Promise<Captured>;
    run(start: Start, host: Host, trace?: (line: string) => void): Promise<number>;
    secrets(env: Readonly<Record<string, string>>): Secret[];
    brokenHookAnswer(argv: readonly string[]): string | undefined;
    recordingCommand(argv: readonly string[]): string | undefined;
}
