import { Functions } from "./functions.js";
import type { ModuleSource } from "./instance.js";
export declare class PureCore extends Functions {
    constructor(module: ModuleSource);
}
