/** A module in WebAssembly, kept usable: a trap costs one instance and nothing else. */

/** A bug in onloop. The call that hit it failed; the next one works. */
export class Bug extends Error {
  override readonly name = "Bug";
}

/** How the message of a bug begins; the core marks its panics with it. */
export const PANIC = "onloop hit a bug of its own";

/** What a module may be given as. */
export type ModuleSource = Uint8Array | ArrayBuffer | object;

/** @internal */
export function compiled(module: ModuleSource): WebAssembly.Module {
  return module instanceof WebAssembly.Module
    ? module
    : new WebAssembly.Module(module as Uint8Array<ArrayBuffer> | ArrayBuffer);
}

/**
 * Whether a module has the programs behind the command line.
 * @internal
 */
export function hasPrograms(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.exports(module).some(({ name }) => name === "program_begin");
}

/**
 * What the binding of every module has.
 * @internal
 */
interface Binding {
  initSync(given: { module: WebAssembly.Module }): unknown;
  __wbg_reset_state(): void;
}

/**
 * The one instance behind a binding, which is made of module variables.
 * @internal
 */
export class Instance<B extends Binding> {
  readonly #binding: B;
  #module: WebAssembly.Module | undefined;
  #generation = 0;

  constructor(binding: B) {
    this.#binding = binding;
  }

  /** Changes when the instance is replaced; programs of an earlier one are gone. */
  get generation(): number {
    return this.#generation;
  }

  /** The first call decides which module it is. */
  call<T>(module: WebAssembly.Module, use: (binding: B) => T): T {
    if (this.#module === undefined) {
      this.#binding.initSync({ module });
      this.#module = module;
    }
    try {
      return use(this.#binding);
    } catch (error) {
      throw this.#judged(error);
    }
  }

  /** After a trap nothing in the instance can be trusted: the next call gets a new one. */
  #judged(error: unknown): unknown {
    const message = error instanceof Error ? error.message : String(error);
    const trapped =
      error instanceof WebAssembly.RuntimeError ||
      error instanceof RangeError ||
      message.startsWith(PANIC);
    if (!trapped) return error;
    this.#binding.__wbg_reset_state();
    this.#generation += 1;
    const text = message.startsWith(PANIC) ? message : `${PANIC}: ${message}`;
    return new Bug(text, { cause: error });
  }
}
