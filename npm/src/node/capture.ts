/** Captures the beginning and the end of a stream in bounded memory. */

import type { Capture } from "../vocabulary.js";

/** One captured stream. It keeps at most three times `limitBytes`. */
export class CaptureBuffer {
  readonly #limit: number;
  readonly #head: Uint8Array[] = [];
  #room: number;
  /** The last bytes behind the head: `limit` of them and up to as many again. */
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #total = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
    this.#room = limitBytes;
  }

  push(bytes: Uint8Array): void {
    this.#total += bytes.length;
    const start = bytes.subarray(0, this.#room);
    if (start.length > 0) this.#head.push(start);
    this.#room -= start.length;
    const rest = bytes.subarray(start.length);
    // A copy: a slice of a large chunk would keep the whole chunk in memory.
    const kept = Uint8Array.prototype.slice.call(rest, Math.max(0, rest.length - this.#limit));
    if (kept.length === 0) return;
    this.#tail.push(kept);
    this.#tailBytes += kept.length;
    if (this.#tailBytes > 2 * this.#limit) this.#trim();
  }

  finish(): Capture {
    this.#trim();
    return {
      head: Buffer.concat(this.#head),
      tail: this.#tail[0] ?? new Uint8Array(0),
      total_bytes: this.#total,
    };
  }

  #trim(): void {
    const all = Buffer.concat(this.#tail, this.#tailBytes);
    const kept = Uint8Array.prototype.slice.call(all, Math.max(0, all.length - this.#limit));
    this.#tail = kept.length > 0 ? [kept] : [];
    this.#tailBytes = kept.length;
  }
}
