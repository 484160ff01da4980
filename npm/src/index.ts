/** The core for Node. It reads its module from the package on first use. */

import { readFileSync } from "node:fs";
import { Core } from "./core.js";

export * from "./api.js";
export { NodeHost, type NodeHostOptions } from "./node/host.js";

let core: Core | undefined;

/** The core, compiled on first use. */
export function load(): Core {
  core ??= new Core(readFileSync(new URL("./onloop.wasm", import.meta.url)));
  return core;
}
