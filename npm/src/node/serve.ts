/**
 * The HTTP server for browsers on this machine.
 *
 * A connection carries one call. A browser that sends or reads too slowly is disconnected, so that it
 * does not delay others. The limits are those of the native host.
 */

import { randomBytes } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { Failure } from "../failure.js";
import type { CallAnswer, Outcome, ServeRequest, WebCall } from "../vocabulary.js";
import type { NodeChanges } from "./changes.js";
import { reason } from "./errors.js";
import { type Interrupts, interrupted } from "./interrupts.js";

const BODY_BYTES = 64 * 1024;
const HEAD_BYTES = 16 * 1024;
const ARRIVAL_MS = 10_000;
const ANSWER_MS = 60_000;
/** How long a client may read a refusal before the connection is closed. */
const LINGER_MS = 500;
const CONNECTIONS = 64;
const CALLS = 32;
/** Most bytes that are queued for a slow reader of an open answer. */
const PART_BYTES = 64 * 1024;

export class NodeServe {
  readonly #interrupts: Interrupts;
  readonly #changes: NodeChanges;
  readonly #calls: WebCall[] = [];
  /** Calls without an answer, including those of browsers that disconnected. */
  readonly #waiting = new Map<number, ServerResponse>();
  readonly #open = new Map<number, ServerResponse>();
  #server: Server | undefined;
  #last = 0;
  #wake: (() => void) | undefined;

  constructor(interrupts: Interrupts, changes: NodeChanges) {
    this.#interrupts = interrupts;
    this.#changes = changes;
  }

  async perform(request: ServeRequest): Promise<Outcome> {
    switch (request.serve) {
      case "listen":
        return this.#listen(request.port);
      case "next":
        return this.#next(request.wait_ms ?? Infinity, request.folders);
      case "answer":
        this.#answer(request.call, request.answer);
        break;
      case "push":
        this.#push(request.call, request.bytes);
    }
    return { is: "done" };
  }

  async #listen(port: number): Promise<Outcome> {
    if (this.#server !== undefined) {
      throw new Failure("exists", "this program is a server already");
    }
    const options = {
      maxHeaderSize: HEAD_BYTES,
      headersTimeout: ARRIVAL_MS,
      requestTimeout: 2 * ARRIVAL_MS,
      keepAlive: false,
      connectionsCheckingInterval: 1000,
    };
    const server = createServer(options, (request, response) => this.#accept(request, response));
    server.maxConnections = CONNECTIONS;
    server.maxRequestsPerSocket = 1;
    // Answers invalid HTTP. An error of one connection does not affect others.
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      const status = error.code === "HPE_HEADER_OVERFLOW" ? "431 Request Header Fields Too Large" : "400 Bad Request";
      if (!socket.writable) return void socket.destroy();
      socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      // The client has had time to read the refusal, and others need the connection.
      const lingering = setTimeout(() => socket.destroy(), LINGER_MS);
      socket.once("close", () => clearTimeout(lingering));
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) => reject(listenFailure(error, port)));
      server.listen({ port, host: "127.0.0.1", exclusive: true }, resolve);
    });
    server.on("error", () => undefined);
    this.#server = server;
    const address = server.address();
    const actual = typeof address === "object" && address !== null ? address.port : port;
    return { is: "listening", port: actual, secret: randomBytes(32) };
  }

  async #next(waitMs: number, folders: string[]): Promise<Outcome> {
    if (this.#server === undefined) throw new Failure("not_found", "this program is not listening yet");
    const watches = folders.length > 0;
    if (watches) this.#changes.follow(folders);
    const end = performance.now() + waitMs;
    for (;;) {
      if (this.#interrupts.take()) throw interrupted();
      const call = this.#calls.shift();
      if (call !== undefined) {
        this.#dropClosed();
        return { is: "call", ...call };
      }
      if (watches && this.#changes.take()) return { is: "no_call" };
      const left = end - performance.now();
      if (left <= 0) return { is: "no_call" };
      await this.#interrupts.pause(left, (wake) => {
        this.#wake = wake;
        if (watches) this.#changes.onChange(wake);
      });
    }
  }

  #answer(call: number, answer: CallAnswer): void {
    const response = this.#waiting.get(call);
    if (response === undefined) throw new Failure("not_found", `no call ${call} waits for an answer`);
    this.#waiting.delete(call);
    if (isClosed(response)) return;
    for (const [name, value] of answer.headers) response.appendHeader(name, value);
    response.statusCode = answer.status;
    if (!answer.open) {
      endSoon(response, answer.body);
      return;
    }
    this.#open.set(call, response);
    response.setTimeout(0);
    response.write(answer.body);
  }

  #push(call: number, bytes: Uint8Array): void {
    const response = this.#open.get(call);
    if (response !== undefined && bytes.length === 0) {
      this.#open.delete(call);
      response.end();
      return;
    }
    const isRead = response !== undefined && !response.destroyed && response.writableLength <= PART_BYTES;
    if (isRead) {
      response.write(bytes);
      return;
    }
    response?.destroy();
    this.#open.delete(call);
    throw new Failure("closed", `the browser of call ${call} has disconnected or reads too slowly`);
  }

  /** Closes every connection; called when the program has ended. */
  close(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
    this.#server = undefined;
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    response.on("error", () => undefined);
    response.shouldKeepAlive = false;
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_BYTES) chunks.push(chunk);
      else if (!response.headersSent) refuseWith(response, 413);
    });
    request.on("end", () => {
      if (size > BODY_BYTES) return;
      if (this.#calls.length >= CALLS) return refuseWith(response, 503);
      this.#queue(request, Buffer.concat(chunks), response);
    });
  }

  #queue(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    this.#last += 1;
    const call = this.#last;
    const headers: [string, string][] = [];
    for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
      const [name, value] = [request.rawHeaders[at] ?? "", request.rawHeaders[at + 1] ?? ""];
      // Node decodes headers as Latin-1.
      headers.push([name.toLowerCase(), Buffer.from(value, "latin1").toString("utf8")]);
    }
    const slow = setTimeout(() => {
      if (this.#waiting.has(call)) refuseWith(response, 504);
    }, ANSWER_MS);
    slow.unref();
    response.on("close", () => {
      clearTimeout(slow);
      this.#open.delete(call);
      const at = this.#calls.findIndex((waiting) => waiting.call === call);
      if (at < 0) return;
      this.#calls.splice(at, 1);
      this.#waiting.delete(call);
    });
    this.#waiting.set(call, response);
    const { method = "", url = "" } = request;
    this.#calls.push({ call, method, target: url, headers, body: new Uint8Array(body) });
    this.#wake?.();
  }

  /** Bounds the calls of disconnected browsers, which the program may still answer. */
  #dropClosed(): void {
    if (this.#waiting.size < CALLS) return;
    for (const [call, response] of this.#waiting) if (isClosed(response)) this.#waiting.delete(call);
  }
}

/** Whether the response was ended, or its browser has disconnected. */
function isClosed(response: ServerResponse): boolean {
  return response.destroyed || response.writableEnded;
}

/** Sends the rest of an answer, and disconnects a browser that reads too slowly. */
function endSoon(response: ServerResponse, body: Uint8Array | string): void {
  const slow = setTimeout(() => response.destroy(), ANSWER_MS);
  slow.unref();
  response.once("close", () => clearTimeout(slow));
  response.end(body);
}

function refuseWith(response: ServerResponse, status: number): void {
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", connection: "close" };
  endSoon(response.writeHead(status, headers), `${status}\n`);
}

function listenFailure(error: NodeJS.ErrnoException, port: number): Failure {
  const what = `cannot listen on port ${port} of 127.0.0.1`;
  if (error.code === "EADDRINUSE") return new Failure("busy", `${what}: another program does`);
  return new Failure(error.code === "EACCES" ? "denied" : "other", `${what}: ${reason(error)}`);
}
