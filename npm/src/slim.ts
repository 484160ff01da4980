/** Loads nothing by itself: `new Core(bytesOrModule)` with the file `onloop/onloop.wasm`. */

export * from "./api.js";
