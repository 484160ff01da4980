/** The core with its module inside, for bundles, browsers and extension hosts. */

import { Core } from "./core.js";
import { embedded } from "./embedded.js";

export * from "./api.js";

let core: Core | undefined;

/** The core, compiled on first use. */
export function load(): Core {
  core ??= new Core(embedded("onloop"));
  return core;
}
