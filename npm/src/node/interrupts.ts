/**
 * Interrupts: Ctrl-C and similar signals, each delivered to one request.
 *
 * The request that waits takes the interrupt, or the next one that has to wait. Other requests are
 * never interrupted, so a program can always save its state.
 */

import { Failure } from "../failure.js";
import { after } from "./timer.js";

export class Interrupts {
  #pending = false;
  readonly #waiting = new Set<() => void>();

  /** Interrupts the request that waits, or the next one. */
  raise(): void {
    this.#pending = true;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Whether an interrupt is pending. */
  get isPending(): boolean {
    return this.#pending;
  }

  /** Takes a pending interrupt. */
  take(): boolean {
    const taken = this.#pending;
    this.#pending = false;
    return taken;
  }

  /** Throws a pending interrupt; called before a wait. */
  check(): void {
    if (this.take()) throw interrupted();
  }

  /** Calls `wake` at every interrupt until the returned function is called. */
  watch(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Waits for a time, an interrupt or a call of the function that `subscribe` gets. */
  async pause(maxMs: number, subscribe: (wake: (() => void) | undefined) => void = () => undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stop();
        unwatch();
        subscribe(undefined);
        resolve();
      };
      const stop = after(maxMs, done);
      const unwatch = this.watch(done);
      subscribe(done);
    });
  }

  async sleep(durationMs: number): Promise<void> {
    const end = performance.now() + durationMs;
    for (;;) {
      this.check();
      const left = end - performance.now();
      if (left <= 0) return;
      await this.pause(left);
    }
  }
}

/** The failure of an interrupted request. */
export function interrupted(): Failure {
  return new Failure("interrupted", "interrupted");
}
