/** The core without programs, whose module has less than half the size. */

import { bind } from "../build/onloop-pure.js";
import { Functions } from "./functions.js";
import type { ModuleSource } from "./instance.js";

/** The functions of the core. `Core` has programs and hosts as well. */
export class PureCore extends Functions {
  /** `module`: the bytes of `onloop/onloop-pure.wasm`, or a `WebAssembly.Module` made of them. */
  constructor(module: ModuleSource) {
    super(bind, module);
  }
}
