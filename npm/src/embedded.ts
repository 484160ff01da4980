/** Modules inside of scripts. */

/** The version of the package; the bundler knows it. */
declare const VERSION: string;

/**
 * The bytes of a module. The script that has them as text is loaded before this one, by `import` and by
 * `require` alike: it has neither exports nor imports, so there is one for both, and leaves the text
 * under a symbol.
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
