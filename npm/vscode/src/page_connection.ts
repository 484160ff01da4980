/** The messages between a page in a webview and the program that answers it. */

import type { News, WebBridge } from "./web_bridge.js";

/** Answers one page. A page that is loaded again uses other ids. */
export class PageConnection {
  readonly #bridge: () => Pick<WebBridge, "ask" | "listen">;
  readonly #post: (message: object) => void;
  readonly #moved: (place: string) => void;
  readonly #streams = new Map<string, () => void>();

  /** `moved` hears what the page shows: a path, as in the address of `onloop web`. */
  constructor(bridge: () => Pick<WebBridge, "ask" | "listen">, post: (message: object) => void, moved: (place: string) => void) {
    this.#bridge = bridge;
    this.#post = post;
    this.#moved = moved;
  }

  receive(message: unknown): void {
    const text = (name: string): string | undefined => {
      const value = (message as Record<string, unknown> | null)?.[name];
      return typeof value === "string" ? value : undefined;
    };
    const [id, place, get, post, listen] = [text("id"), text("place"), text("get"), text("post"), text("listen")];
    if (place !== undefined) this.#moved(place);
    else if (id === undefined) return;
    else if (get !== undefined) void this.#ask(id, get);
    else if (post !== undefined) void this.#ask(id, post, text("fields") ?? "");
    else if (listen !== undefined) this.#listen(id, listen);
    else this.#stop(id);
  }

  /** The page is gone. */
  close(): void {
    for (const id of this.#streams.keys()) this.#stop(id);
  }

  async #ask(id: string, path: string, form?: string): Promise<void> {
    const reply = await this.#bridge().ask(path, form).catch(() => undefined);
    this.#post({ id, reply });
  }

  #listen(id: string, path: string): void {
    const hear = (news: News): void => this.#post({ id, news });
    this.#streams.set(id, this.#bridge().listen(path, hear));
  }

  #stop(id: string): void {
    this.#streams.get(id)?.();
    this.#streams.delete(id);
  }
}
