// Where the facts come from, and where decisions are sent.

import { editorSource } from "./editor_source.js";
import { report } from "./report_source.js";

export interface Reply {
  status: number;
  /** The JSON of the body; missing if the body is not JSON. */
  value?: unknown;
}

/** Hears of a stream of events. */
export interface Listener {
  opened(): void;
  /** What is shown has changed. */
  changed(): void;
  /** It has ended; `isAnswered`: the other side has no room for one more, or does not know us. */
  lost(isAnswered: boolean): void;
}

export interface Source {
  /** Everything lies below this path. */
  readonly root: string;
  /** What a page shows first that has no address of its own: a path, below the root. */
  readonly start?: string;
  /** Remembers what such a page shows. */
  keep?(path: string): void;
  /** Calls `go` when something outside such a page leads it to another place. */
  follow?(go: (path: string) => void): void;
  get(path: string): Promise<Reply>;
  post(path: string, fields: URLSearchParams): Promise<Reply>;
  /** Listens until the function that it returns is called. */
  listen(path: string, listener: Listener): () => void;
}

class Server implements Source {
  readonly root = document.getElementById("app")?.dataset["root"] ?? "";

  get(path: string): Promise<Reply> {
    return this.#ask(path, {});
  }

  post(path: string, body: URLSearchParams): Promise<Reply> {
    return this.#ask(path, { method: "POST", body });
  }

  async #ask(path: string, init: RequestInit): Promise<Reply> {
    const answer = await fetch(this.root + path, { credentials: "same-origin", ...init });
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: answer.status, ...(isJson && { value: await answer.json() as unknown }) };
  }

  listen(path: string, listener: Listener): () => void {
    const stream = new EventSource(this.root + path);
    stream.onopen = () => listener.opened();
    stream.addEventListener("changed", () => listener.changed());
    stream.onerror = () => listener.lost(stream.readyState === EventSource.CLOSED);
    return () => stream.close();
  }
}

export const source: Source = report ?? editorSource() ?? new Server();
