/** Instances of a WebAssembly module. A trap ends one instance, and the next call gets a new one. */

/** A bug in onloop. The call that hit it failed, but the next one works. */
export class Bug extends Error {
  override readonly name = "Bug";
}

/** The prefix of the message of a bug, with which the core marks its panics. */
export const PANIC = "internal error in onloop";

/** A module or its bytes. */
export type ModuleSource = Uint8Array | ArrayBuffer | object;

/** @internal */
export function compiled(module: ModuleSource): WebAssembly.Module {
  return module instanceof WebAssembly.Module
    ? module
    : new WebAssembly.Module(module as Uint8Array<ArrayBuffer> | ArrayBuffer);
}

/**
 * Whether a module has the programs of the command line.
 * @internal
 */
export function hasPrograms(module: WebAssembly.Module): boolean {
  return WebAssembly.Module.exports(module).some(({ name }) => name === "program_begin");
}

/**
 * The common part of all bindings.
 * @internal
 */
interface Binding {
  initSync(given: { module: WebAssembly.Module }): unknown;
}

/**
 * An instance of a module with separate memory, made at its first call.
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

  /** Whether a bug has destroyed its state. */
  get hasTrapped(): boolean {
    return this.#hasTrapped;
  }

  call<T>(use: (binding: B) => T): T {
    this.#binding ??= this.#made();
    try {
      return use(this.#binding);
    } catch (error) {
      throw this.#translated(error);
    }
  }

  #made(): B {
    const binding = this.#bind();
    binding.initSync({ module: this.#module });
    return binding;
  }

  /** Turns a trap into a `Bug`. Its instance is dropped, because its memory may be damaged. */
  #translated(error: unknown): unknown {
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
