/** What every entry point has: the core, and what hosts are made of. */

export { Bug, Core, EXIT_BUG } from "./core.js";
export type * from "./documents.js";
export { Failure, type FailureKind } from "./failure.js";
export type * from "./host.js";
export type { Start } from "./wire.js";
