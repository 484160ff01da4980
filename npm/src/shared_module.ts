/** The module of the programs that this process has compiled, so that no part of it compiles it again. */

let shared: WebAssembly.Module | undefined;

/** Keeps a module that has programs. */
export function share(module: WebAssembly.Module): void {
  shared = module;
}

/** The module that was kept last. */
export function sharedModule(): WebAssembly.Module | undefined {
  return shared;
}
