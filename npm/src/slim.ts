/**
 * Loads nothing by itself: `new Core(bytesOrModule)` with the file `onloop/onloop.wasm`, or
 * `new PureCore(bytesOrModule)` with `onloop/onloop-pure.wasm`.
 */

export * from "./api.js";
