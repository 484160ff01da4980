/** The functions without programs, their module inside: for bundles that count bytes. */

// Replaced by the bundler with the bytes themselves.
import bytes from "../build/onloop-pure_bg.wasm";
import { PureCore } from "./pure_core.js";

export type * from "./documents.js";
export { Bug } from "./instance.js";
export { PureCore } from "./pure_core.js";
export type * from "./session_documents.js";

let core: PureCore | undefined;

/** The core, compiled on first use. */
export function load(): PureCore {
  core ??= new PureCore(bytes);
  return core;
}
