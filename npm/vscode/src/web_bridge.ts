/**
 * Answers the pages of this window. The program `onloop web` serves them as it serves browsers, but gets
 * their requests from here instead of from a port, so that nothing else on this machine can reach it.
 */

import { randomBytes } from "node:crypto";
import { type CallAnswer, Failure, type NodeHost, type Outcome, type ServeRequest, type WebCall } from "onloop";

/** What a page gets for a request. */
export interface Reply {
  status: number;
  /** The JSON of the body. */
  value?: unknown;
}

/** News of a stream: `refused` if the program opens none, `lost` if the stream or the program has ended. */
export type News = "opened" | "changed" | "refused" | "lost";

/** The address that the program gets for its links and checks. Nothing listens there. */
const PORT = 1;
const HOST = `127.0.0.1:${PORT}`;
const ORIGIN = `http://${HOST}`;
/** The link with which a browser signs in, as the program prints it. */
const LINK = /^http:\/\/127\.0\.0\.1:1\/in\/(\S+)$/m;

interface Session {
  /** The path below which everything lies. */
  root: string;
  cookie: string;
}

/** A request of a page before its answer. */
interface Waiting {
  answer(answer: CallAnswer): void;
  /** The program has ended. */
  lose(): void;
}

export class WebBridge {
  /** Waits for changes of folders; `interrupt` ends the wait. */
  readonly #watch: Pick<NodeHost, "perform" | "interrupt">;
  readonly #calls: WebCall[] = [];
  readonly #waiting = new Map<number, Waiting>();
  readonly #streams = new Map<number, (news: News) => void>();
  #session: Promise<Session>;
  #begin: (session: Promise<Session>) => void = () => undefined;
  #isPausing = false;
  #last = 0;

  constructor(watch: Pick<NodeHost, "perform" | "interrupt">) {
    this.#watch = watch;
    this.#session = new Promise((resolve) => (this.#begin = resolve));
  }

  /** Performs a request of the program. */
  async perform(request: ServeRequest, signal: AbortSignal): Promise<Outcome> {
    switch (request.serve) {
      case "listen":
        return { is: "listening", port: PORT, secret: randomBytes(32) };
      case "next":
        return this.#next(request.wait_ms, request.folders, signal);
      case "answer":
        this.#answer(request.call, request.answer);
        break;
      case "push":
        this.#push(request.call, new TextDecoder().decode(request.bytes));
    }
    return { is: "done" };
  }

  /** Hears the standard output of the program, which has the link. */
  heard(text: string): void {
    const key = LINK.exec(text)?.[1];
    if (key !== undefined) this.#renew(this.#signIn(key));
  }

  /** The program has ended. */
  end(): void {
    this.#renew(Promise.reject(ended()));
    for (const { lose } of this.#waiting.values()) lose();
    for (const hear of this.#streams.values()) hear("lost");
    this.#waiting.clear();
    this.#streams.clear();
  }

  /** Asks for what is at `path`, below the root; `form` is sent there. */
  async ask(path: string, form?: string): Promise<Reply> {
    const first = await this.#inSession(path, form);
    // A session ends after a long time without a request. The program has printed another link by now.
    const isOut = first.status === 401 && form === undefined;
    const { status, headers, body } = isOut ? await this.#inSession(path, form) : first;
    const isJson = headers.some(([name, value]) => name === "content-type" && value.startsWith("application/json"));
    return { status, ...(isJson && { value: JSON.parse(new TextDecoder().decode(body)) as unknown }) };
  }

  /** Listens to the stream at `path` until the returned function is called. */
  listen(path: string, hear: (news: News) => void): () => void {
    let call: number | undefined;
    let isOver = false;
    const tell = (news: News): void => void (isOver || hear(news));
    const open = ({ root, cookie }: Session): void => {
      if (isOver) return;
      const opened = this.#send("GET", root + path, [["cookie", cookie]], undefined, {
        answer: ({ open: isOpen }) => {
          if (isOpen) this.#streams.set(opened, tell);
          tell(isOpen ? "opened" : "refused");
        },
        lose: () => tell("lost"),
      });
      call = opened;
    };
    this.#session.then(open, () => tell("lost"));
    return () => {
      isOver = true;
      // A part that is sent there fails, so the program closes the stream.
      if (call !== undefined) this.#streams.delete(call);
    };
  }

  #renew(session: Promise<Session>): void {
    session.catch(() => undefined);
    this.#begin(session);
    this.#session = session;
  }

  /** Exchanges the key of a link for the cookie of a session. */
  async #signIn(key: string): Promise<Session> {
    const { status, headers } = await this.#call("POST", "/in", [], new URLSearchParams({ key }).toString());
    const header = (name: string): string => headers.find(([found]) => found === name)?.[1] ?? "";
    if (status !== 303) throw new Failure("denied", `\`onloop web\` refused to sign in this window: status ${status}`);
    return { root: header("location").replace(/\/$/, ""), cookie: header("set-cookie").split(";")[0] ?? "" };
  }

  async #inSession(path: string, form: string | undefined): Promise<CallAnswer> {
    const { root, cookie } = await this.#session;
    return this.#call(form === undefined ? "GET" : "POST", root + path, [["cookie", cookie]], form);
  }

  #call(method: string, target: string, headers: [string, string][], form: string | undefined): Promise<CallAnswer> {
    return new Promise((answer, reject) => {
      this.#send(method, target, headers, form, { answer, lose: () => reject(ended()) });
    });
  }

  #send(method: string, target: string, headers: [string, string][], form: string | undefined, waiting: Waiting): number {
    const call = (this.#last += 1);
    const own: [string, string][] = [["host", HOST]];
    if (form !== undefined) own.push(["origin", ORIGIN], ["content-type", "application/x-www-form-urlencoded"]);
    this.#waiting.set(call, waiting);
    this.#calls.push({ call, method, target, headers: [...own, ...headers], body: new TextEncoder().encode(form) });
    if (this.#isPausing) this.#watch.interrupt();
    return call;
  }

  async #next(waitMs: number | null, folders: string[], signal: AbortSignal): Promise<Outcome> {
    if (this.#calls.length === 0 && !signal.aborted) await this.#pause(waitMs ?? Infinity, folders, signal);
    if (signal.aborted) throw new Failure("interrupted", "interrupted");
    const call = this.#calls.shift();
    return call === undefined ? { is: "no_call" } : { is: "call", ...call };
  }

  /** Waits for a call, a change, the end of the time, or an interrupt. */
  async #pause(waitMs: number, folders: string[], signal: AbortSignal): Promise<void> {
    const interrupt = (): void => this.#watch.interrupt();
    signal.addEventListener("abort", interrupt);
    this.#isPausing = true;
    try {
      if (folders.length === 0) await this.#watch.perform({ do: "sleep", duration_ms: waitMs });
      else await this.#watch.perform({ do: "changes", folders, wait_ms: waitMs });
    } catch (error) {
      if (!(error instanceof Failure && error.kind === "interrupted")) throw error;
    } finally {
      this.#isPausing = false;
      signal.removeEventListener("abort", interrupt);
    }
  }

  #answer(call: number, answer: CallAnswer): void {
    const waiting = this.#waiting.get(call);
    if (waiting === undefined) throw new Failure("not_found", `no call ${call} waits for an answer`);
    this.#waiting.delete(call);
    waiting.answer(answer);
  }

  #push(call: number, part: string): void {
    const hear = this.#streams.get(call);
    if (hear === undefined) throw new Failure("closed", `call ${call} has no listener any more`);
    if (part === "") {
      this.#streams.delete(call);
      hear("lost");
    } else if (part.startsWith("event: changed\n")) {
      hear("changed");
    }
  }
}

function ended(): Failure {
  return new Failure("closed", "`onloop web` has ended");
}
