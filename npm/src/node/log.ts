/**
 * The log of one program: both streams in the order of their arrival, redacted and bounded.
 *
 * The log keeps the beginning and the end. The end is always on the disk, so that a reader can follow
 * it. It grows to twice its bound before the older half is removed.
 */

import { fstatSync, ftruncateSync, writeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Secret } from "../host.js";

const HEAD_BYTES = 8 * 1024 * 1024;
const TAIL_BYTES = 8 * 1024 * 1024;

/** Appends a log to an open file. */
export class Log {
  readonly #file: FileHandle;
  readonly #secrets: Secret[];
  readonly #streams: RedactedStream[] = [];
  #headRoom = HEAD_BYTES;
  /** The offset behind the head. Earlier content of the file lies before it. */
  #headEnd: number;
  /** The end of the log, which the file has behind the head and the line about omitted bytes. */
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #omitted = 0;

  constructor(file: FileHandle, secrets: Secret[]) {
    this.#file = file;
    this.#secrets = secrets;
    this.#headEnd = fstatSync(file.fd).size;
  }

  /** A sink for one stream, because a secret may lie across two chunks of it. */
  stream(): (chunk: Uint8Array) => void {
    const stream = new RedactedStream(this.#secrets);
    this.#streams.push(stream);
    return (chunk) => this.#push(stream.push(chunk));
  }

  /** Ends both streams. */
  finish(): void {
    for (const stream of this.#streams) this.#push(stream.finish());
    if (this.#tailBytes > TAIL_BYTES) this.#makeRoom();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #push(bytes: Uint8Array): void {
    const head = bytes.subarray(0, this.#headRoom);
    this.#write(head);
    this.#headRoom -= head.length;
    this.#headEnd += head.length;
    const rest = bytes.subarray(head.length);
    if (rest.length === 0) return;
    this.#write(rest);
    // A copy: a chunk may be a slice of a larger buffer.
    this.#tail.push(Uint8Array.prototype.slice.call(rest));
    this.#tailBytes += rest.length;
    if (this.#tailBytes > 2 * TAIL_BYTES) this.#makeRoom();
  }

  /** Removes all but the last bytes of the tail. */
  #makeRoom(): void {
    const surplus = this.#tailBytes - TAIL_BYTES;
    const kept = Buffer.concat(this.#tail, this.#tailBytes).subarray(surplus);
    this.#tail = [kept];
    this.#tailBytes = kept.length;
    this.#omitted += surplus;
    ftruncateSync(this.#file.fd, this.#headEnd);
    this.#write(Buffer.from(`\n[… ${this.#omitted} bytes not kept …]\n`));
    this.#write(kept);
  }

  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file.fd, bytes, at);
  }
}

/** Redacts a stream in chunks, with the result that core has for the whole text. */
export class RedactedStream {
  /** The secrets by first byte, the longest first, because one may begin with another. */
  readonly #secrets = new Map<number, { form: Buffer; placeholder: Buffer }[]>();
  /** Bytes that may begin a secret. */
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: Secret[]) {
    for (const secret of secrets) {
      const form = Buffer.from(secret.form);
      const alike = this.#secrets.get(form[0]!) ?? [];
      this.#secrets.set(form[0]!, [...alike, { form, placeholder: Buffer.from(secret.placeholder) }]);
    }
  }

  /** The bytes that are certainly clean after this chunk. */
  push(chunk: Uint8Array): Uint8Array {
    return this.#secrets.size === 0 ? chunk : this.#scan(Buffer.concat([this.#held, chunk]), false);
  }

  /** The held bytes, at the end of the stream. */
  finish(): Uint8Array {
    return this.#scan(this.#held, true);
  }

  #scan(bytes: Buffer, isEnd: boolean): Uint8Array {
    const clean: Uint8Array[] = [];
    let done = 0;
    let at = 0;
    while (at < bytes.length) {
      const alike = this.#secrets.get(bytes[at]!);
      const found = alike && this.#look(alike, bytes.subarray(at), isEnd);
      if (found === "unfinished") break;
      if (found === undefined) {
        at += 1;
      } else {
        clean.push(bytes.subarray(done, at), found.placeholder);
        at += found.form.length;
        done = at;
      }
    }
    clean.push(bytes.subarray(done, at));
    this.#held = bytes.subarray(at);
    return Buffer.concat(clean);
  }

  #look<S extends { form: Buffer }>(secrets: S[], bytes: Buffer, isEnd: boolean): S | "unfinished" | undefined {
    for (const secret of secrets) {
      const { form } = secret;
      const length = Math.min(form.length, bytes.length);
      if (form.compare(bytes, 0, length, 0, length) !== 0) continue;
      if (length === form.length) return secret;
      if (!isEnd) return "unfinished";
    }
    return undefined;
  }
}
