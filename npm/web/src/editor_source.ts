// The page in a webview of an editor: its extension answers, and nothing goes over a network.

import type { Listener, Reply, Source } from "./source.js";

/** What an editor gives to a page. */
interface Editor {
  postMessage(message: unknown): void;
  getState(): { place?: string } | undefined;
  setState(state: { place: string }): void;
}

declare const acquireVsCodeApi: undefined | (() => Editor);

/** What the extension says to the page: the answer to a request, news of a stream, or where to go. */
interface Message {
  id: string;
  go?: string;
  reply?: Reply;
  /** Without any of these, the request failed. */
  news?: "opened" | "changed" | "refused" | "lost";
}

class EditorSource implements Source {
  readonly root = "";
  readonly start: string;
  readonly #editor: Editor;
  readonly #waiting = new Map<string, (message: Message) => void>();
  /** A page that was shown before may still get answers; this one has other ids. */
  readonly #page = Math.random().toString(36).slice(2);
  #last = 0;

  constructor(editor: Editor) {
    this.#editor = editor;
    this.start = editor.getState()?.place ?? document.getElementById("app")?.dataset["start"] ?? "/";
    addEventListener("message", ({ data }: MessageEvent<Message>) => this.#waiting.get(data.id)?.(data));
    this.keep(this.start);
  }

  keep(place: string): void {
    this.#editor.setState({ place });
    this.#editor.postMessage({ place });
  }

  follow(go: (path: string) => void): void {
    addEventListener("message", ({ data }: MessageEvent<Message>) => data.go !== undefined && go(data.go));
  }

  get(path: string): Promise<Reply> {
    return this.#ask({ get: path });
  }

  post(path: string, fields: URLSearchParams): Promise<Reply> {
    return this.#ask({ post: path, fields: fields.toString() });
  }

  #ask(request: object): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const id = this.#send(request, ({ reply }) => {
        this.#waiting.delete(id);
        if (reply === undefined) reject(new Error("the extension does not answer"));
        else resolve(reply);
      });
    });
  }

  listen(path: string, listener: Listener): () => void {
    const id = this.#send({ listen: path }, ({ news }) => {
      if (news === "opened") listener.opened();
      else if (news === "changed") listener.changed();
      else listener.lost(news === "refused");
    });
    return () => {
      this.#waiting.delete(id);
      this.#editor.postMessage({ id, close: true });
    };
  }

  #send(request: object, hear: (message: Message) => void): string {
    const id = `${this.#page}-${(this.#last += 1)}`;
    this.#waiting.set(id, hear);
    this.#editor.postMessage({ id, ...request });
    return id;
  }
}

/** The source of a page in an editor; `undefined` elsewhere. */
export function editorSource(): Source | undefined {
  return typeof acquireVsCodeApi === "undefined" ? undefined : new EditorSource(acquireVsCodeApi());
}
