/** Sends HTTP requests with `fetch`. */

import { Failure } from "../failure.js";
import type { HttpAnswer, HttpSpec } from "../vocabulary.js";
import { type Interrupts, interrupted } from "./interrupts.js";
import { after } from "./timer.js";

/** Scheme, host and port. URLs with a user name or password do not match. */
const ORIGIN = /^https?:\/\/[a-z0-9._:[\]-]+(?=[/?#]|$)/i;

/** Sends a request. Failures never name the URL: it may contain a token. */
export async function http(interrupts: Interrupts, spec: HttpSpec): Promise<HttpAnswer> {
  interrupts.check();
  const origin = ORIGIN.exec(spec.url)?.[0];
  if (origin === undefined || !URL.canParse(spec.url)) {
    const expected = "expected `http://` or `https://`";
    throw new Failure("invalid", `the URL does not name a server; ${expected}`);
  }
  const ending = new AbortController();
  const unwatch = interrupts.watch(() => ending.abort());
  const stop = after(spec.timeout_ms, () => ending.abort());
  try {
    return await converse(spec, headersOf(spec, origin), ending.signal);
  } catch (error) {
    if (interrupts.take()) throw interrupted();
    if (error instanceof Failure) throw error;
    throw failure(error, spec, origin, ending.signal.aborted);
  } finally {
    stop();
    unwatch();
  }
}

/** Throws when a name or value is not valid in HTTP. */
function headersOf({ headers }: HttpSpec, origin: string): Headers {
  try {
    return new Headers([["user-agent", "onloop"], ...headers]);
  } catch {
    throw new Failure("invalid", `cannot reach \`${origin}\`: the request is not valid HTTP`);
  }
}

async function converse(spec: HttpSpec, headers: Headers, signal: AbortSignal): Promise<HttpAnswer> {
  const response = await fetch(spec.url, {
    method: spec.method,
    headers,
    redirect: "manual",
    signal,
    ...(spec.body !== null && { body: new Uint8Array(spec.body) }),
  });
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Chunks bound the memory that an endless body takes.
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    size += piece.value.length;
    if (size > spec.limit_bytes) {
      await reader?.cancel();
      throw new Failure("too_large", `the answer has more than ${spec.limit_bytes} bytes`);
    }
    chunks.push(piece.value);
  }
  return { status: response.status, body: new Uint8Array(Buffer.concat(chunks)) };
}

/** The failure of a request, without the URL, which may contain a token. */
function failure(error: unknown, spec: HttpSpec, origin: string, late: boolean): Failure {
  const what = `cannot reach \`${origin}\``;
  if (late) return new Failure("closed", `${what}: no answer within ${spec.timeout_ms} ms`);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  const code = cause !== undefined && "code" in cause ? String(cause.code) : "";
  if (TOO_LARGE.has(code)) return new Failure("too_large", `${what}: the answer's header is too large`);
  if (CLOSED.has(code)) return new Failure("closed", `${what}: no connection (${code})`);
  return new Failure("other", code === "" ? what : `${what} (${code})`);
}

const TOO_LARGE = new Set(["UND_ERR_HEADERS_OVERFLOW", "HPE_HEADER_OVERFLOW"]);

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
  // The connection ended before the answer did.
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
  "UND_ERR_SOCKET",
]);
