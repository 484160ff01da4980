/** The core with its module inside: for bundles, browsers and extension hosts. */

// Replaced by the bundler with the bytes themselves.
import bytes from "../build/onloop_bg.wasm";
import { Core } from "./core.js";

export * from "./api.js";

let core: Core | undefined;

/** The core, compiled on first use. */
export function load(): Core {
  core ??= new Core(bytes);
  return core;
}
