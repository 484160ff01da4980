import { Core } from "./core.js";
export * from "./api.js";
export { NodeHost, type NodeHostOptions } from "./node/host.js";
export declare function load(): Core;
