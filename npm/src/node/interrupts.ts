/**
 * Ctrl-C and similar signals, delivered exactly once to whatever waits.
 *
 * A signal raises the interrupt; the next request that has to wait takes it. Requests that do
 * not wait are never interrupted, so that a program can always save what it has.
 */

import { Failure } from "../failure.js";
import { after } from "./timer.js";

export class Interrupts {
  #pending = false;
  readonly #waiting = new Set<() => void>();

  /** Interrupts what waits, or the next thing that will. */
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

  /** Takes a pending interrupt as a failure, before something that would wait. */
  check(): void {
    if (this.take()) throw interrupted();
  }

  /** Calls `wake` at every interrupt until the returned function is called. */
  watch(wake: () => void): () => void {
    this.#waiting.add(wake);
    return () => this.#waiting.delete(wake);
  }

  /** Waits until the time is over, at an interrupt, or until the function that `hear` is given is called. */
  async pause(longestMs: number, hear: (wake: (() => void) | undefined) => void = () => undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stop();
        unwatch();
        hear(undefined);
        resolve();
      };
      const stop = after(longestMs, done);
      const unwatch = this.watch(done);
      hear(done);
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

/** The failure of a request that was interrupted before or while it waited. */
export function interrupted(): Failure {
  return new Failure("interrupted", "interrupted");
}
