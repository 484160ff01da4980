/**
 * The core without a module. Load it yourself: `new Core(bytesOrModule)` with `onloop/onloop.wasm`, or
 * `new PureCore(bytesOrModule)` with `onloop/onloop-pure.wasm`.
 */

export * from "./api.js";
