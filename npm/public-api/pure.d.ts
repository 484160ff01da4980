import { PureCore } from "./pure_core.js";
export type * from "./documents.js";
export { Bug } from "./instance.js";
export { PureCore } from "./pure_core.js";
export type * from "./session_documents.js";
export declare function load(): PureCore;
