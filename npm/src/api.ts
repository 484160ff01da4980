/** The exports that all entry points share. */

export { Core, EXIT_BUG } from "./core.js";
export type * from "./documents.js";
export { Failure, type FailureKind } from "./failure.js";
export type * from "./host.js";
export { Bug } from "./instance.js";
export type { Language } from "./language.js";
export type * from "./language_documents.js";
export { PureCore } from "./pure_core.js";
export type * from "./session_documents.js";
export type * from "./vocabulary.js";
