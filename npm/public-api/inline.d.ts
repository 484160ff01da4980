import { Core } from "./core.js";
export * from "./api.js";
export declare function load(): Core;
