/** The core without programs: a module of less than half the size. */

import * as glue from "../build/onloop-pure.js";
import { Functions } from "./functions.js";
import { Instance, type ModuleSource } from "./instance.js";

const live = new Instance(glue);

/** The functions of the core. Programs, and with them hosts, are left to `Core`. */
export class PureCore extends Functions {
  /** `module`: the bytes of `onloop/onloop-pure.wasm`, or a `WebAssembly.Module` made of them. */
  constructor(module: ModuleSource) {
    super(live, module);
  }
}
