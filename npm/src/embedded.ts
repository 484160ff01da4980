/** Modules that scripts contain as text. */

/** The version of the package, which the bundler inserts. */
declare const VERSION: string;

/**
 * The bytes of a module. A script that is loaded before this one leaves them as text under a symbol. It
 * has neither imports nor exports, so it serves `import` and `require`.
 */
export function embedded(name: string): Uint8Array {
  const symbol = Symbol.for(`onloop/${name}.wasm ${VERSION}`);
  const text = (globalThis as { [symbol: symbol]: unknown })[symbol];
  if (typeof text !== "string") {
    throw new Error(`the script \`dist/embedded/${name}.js\` of onloop was not loaded; a bundler must keep it`);
  }
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
