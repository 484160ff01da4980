/** The functions without programs, with their module inside, for small bundles. */

import { embedded } from "./embedded.js";
import { PureCore } from "./pure_core.js";

export type * from "./documents.js";
export { Bug } from "./instance.js";
export { PureCore } from "./pure_core.js";
export type * from "./session_documents.js";

let core: PureCore | undefined;

/** The core, compiled on first use. */
export function load(): PureCore {
  core ??= new PureCore(embedded("onloop-pure"));
  return core;
}
