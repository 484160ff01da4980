/** The core without programs: a module of less than half the size. */

import { bind } from "../build/onloop-pure.js";
import { Functions } from "./functions.js";
import type { ModuleSource } from "./instance.js";

/** The functions of the core. Programs, and with them hosts, are left to `Core`. */
export class PureCore extends Functions {
  /** `module`: the bytes of `onloop/onloop-pure.wasm`, or a `WebAssembly.Module` made of them. */
  constructor(module: ModuleSource) {
    super(bind, module);
  }
}
