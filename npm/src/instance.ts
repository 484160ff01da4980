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
}

/**
 * One instance of a module, made at its first call, with memory that nobody shares.
 * @internal
 */
export class Instance<B extends Binding> {
  readonly #bind: () => B;
  readonly #module: WebAssembly.Module;
  #binding: B | undefined;
  #hasTrapped = false;

  constructor(bind: () => B, module: WebAssembly.Module) {
    this.#bind = bind;
    this.#module = module;
  }

  /** Whether a bug has cost what was in it. */
  get hasTrapped(): boolean {
    return this.#hasTrapped;
  }

  call<T>(use: (binding: B) => T): T {
    this.#binding ??= this.#made();
    try {
      return use(this.#binding);
    } catch (error) {
      throw this.#judged(error);
    }
  }

  #made(): B {
    const binding = this.#bind();
    binding.initSync({ module: this.#module });
    return binding;
  }

  /** After a trap nothing in the instance can be trusted: the next call gets a new one. */
  #judged(error: unknown): unknown {
    const message = error instanceof Error ? error.message : String(error);
    const trapped =
      error instanceof WebAssembly.RuntimeError ||
      error instanceof RangeError ||
      message.startsWith(PANIC);
    if (!trapped) return error;
    this.#binding = undefined;
    this.#hasTrapped = true;
    const text = message.startsWith(PANIC) ? message : `${PANIC}: ${message}`;
    return new Bug(text, { cause: error });
  }
}
