/** Keeping the beginning and the end of a stream of any length in bounded memory. */

import type { Capture } from "../vocabulary.js";

/** Collects one stream; keeps at most three times the bytes kept at each end. */
export class Keeper {
  readonly #limit: number;
  readonly #head: Uint8Array[] = [];
  #room: number;
  /** At least the last `limit` bytes that are not in the head, once there are so many. */
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
    // A copy, so that a large chunk does not stay alive for its last bytes.
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
