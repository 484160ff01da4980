/** The log of one program: both streams as they come, without secrets. */

import { writeSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Secret } from "../host.js";

/** A log that goes on in a file, behind what is there. */
export class Log {
  readonly #file: FileHandle;
  readonly #secrets: Secret[];
  readonly #streams: RedactedStream[] = [];

  constructor(file: FileHandle, secrets: Secret[]) {
    this.#file = file;
    this.#secrets = secrets;
  }

  /** Takes what comes in one stream: a secret may lie across two chunks of it. */
  stream(): (chunk: Uint8Array) => void {
    const stream = new RedactedStream(this.#secrets);
    this.#streams.push(stream);
    return (chunk) => this.#write(stream.push(chunk));
  }

  /** Nothing more comes. */
  finish(): void {
    for (const stream of this.#streams) this.#write(stream.finish());
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file.fd, bytes, at);
  }
}

/** Redacts a stream that comes in chunks, as the core redacts a whole text. */
export class RedactedStream {
  /** By their first byte, the longest first, because one may be a part of another. */
  readonly #secrets = new Map<number, { form: Buffer; placeholder: Buffer }[]>();
  /** What may be the beginning of a secret. */
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: Secret[]) {
    for (const secret of secrets) {
      const form = Buffer.from(secret.form);
      const alike = this.#secrets.get(form[0]!) ?? [];
      this.#secrets.set(form[0]!, [...alike, { form, placeholder: Buffer.from(secret.placeholder) }]);
    }
  }

  /** What is known to be clean after this chunk. */
  push(chunk: Uint8Array): Uint8Array {
    return this.#secrets.size === 0 ? chunk : this.#scan(Buffer.concat([this.#held, chunk]), false);
  }

  /** What was held back, at the end of the stream. */
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
