/** Servers, through `fetch`. */

import { Failure } from "../failure.js";
import type { HttpAnswer, HttpSpec, Servers } from "../host.js";
import { type Interrupts, interrupted } from "./interrupts.js";

/** Scheme, host and port; user names and passwords in URLs are refused. */
const ORIGIN = /^https?:\/\/[a-z0-9._:[\]-]+(?=[/?#]|$)/i;

export class NodeServers implements Servers {
  readonly #interrupts: Interrupts;

  constructor(interrupts: Interrupts) {
    this.#interrupts = interrupts;
  }

  async http(spec: HttpSpec): Promise<HttpAnswer> {
    this.#interrupts.check();
    const origin = ORIGIN.exec(spec.url)?.[0];
    if (origin === undefined || !URL.canParse(spec.url)) {
      const expected = "expected `http://` or `https://`";
      throw new Failure("invalid", `the URL is not one of a server; ${expected}`);
    }
    const ending = new AbortController();
    const unwatch = this.#interrupts.watch(() => ending.abort());
    const timer = setTimeout(() => ending.abort(), Math.min(spec.timeoutMs, 2 ** 31 - 1));
    try {
      return await converse(spec, ending.signal);
    } catch (error) {
      if (this.#interrupts.take()) throw interrupted();
      if (error instanceof Failure) throw error;
      throw failure(error, spec, origin, ending.signal.aborted);
    } finally {
      clearTimeout(timer);
      unwatch();
    }
  }
}

async function converse(spec: HttpSpec, signal: AbortSignal): Promise<HttpAnswer> {
  const response = await fetch(spec.url, {
    method: spec.method,
    headers: [["user-agent", "onloop"], ...spec.headers],
    redirect: "manual",
    signal,
    ...(spec.body !== undefined && { body: new Uint8Array(spec.body) }),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  // The body is read in chunks, so that an endless one is not kept in memory.
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    size += piece.value.length;
    if (size > spec.limitBytes) {
      await reader?.cancel();
      throw new Failure("too_large", `the answer has more than ${spec.limitBytes} bytes`);
    }
    chunks.push(piece.value);
  }
  return { status: response.status, body: new Uint8Array(Buffer.concat(chunks)) };
}

/** What went wrong, without the URL: it may contain a token. */
function failure(error: unknown, spec: HttpSpec, origin: string, late: boolean): Failure {
  const asked = `cannot reach \`${origin}\``;
  if (late) return new Failure("closed", `${asked}: no answer within ${spec.timeoutMs} ms`);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const code = cause !== undefined && "code" in cause ? String(cause.code) : "";
  if (CLOSED.has(code)) return new Failure("closed", `${asked}: no connection (${code})`);
  return new Failure("other", code === "" ? asked : `${asked} (${code})`);
}

const CLOSED = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_SOCKET",
]);
