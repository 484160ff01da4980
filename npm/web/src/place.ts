// Where the page is: everything, or one run, and what is chosen there. The address has all of it.

import { useEffect, useState } from "preact/hooks";
import { source } from "./source.js";

export interface Place {
  /** The run that is shown; without one, everything is. */
  run: string | undefined;
  query: URLSearchParams;
}

/** The place of a page that has no address of its own; elsewhere it is in the address. */
let kept = source.start;

function read(): Place {
  const [path = "", query] = kept?.split("?") ?? [location.pathname.slice(source.root.length), location.search];
  return { run: /^\/run\/([^/]+)$/.exec(path)?.[1], query: new URLSearchParams(query) };
}

function keep(path: string): void {
  kept = path;
  source.keep?.(path);
}

const CHANGED = "place";

/** Shows what is at `path`, below the root. */
export function go(path: string): void {
  if (kept === undefined) history.pushState(null, "", source.root + path);
  else keep(path);
  dispatchEvent(new Event(CHANGED));
  scrollTo(0, 0);
}

source.follow?.(go);

/** Chooses something at this place; an empty value takes a choice back. */
export function choose(choices: Record<string, string>): void {
  const { run, query } = read();
  for (const [name, value] of Object.entries(choices)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  const words = query.toString();
  const path = (run === undefined ? "/" : `/run/${run}`) + (words === "" ? "" : `?${words}`);
  if (kept === undefined) history.replaceState(null, "", source.root + path);
  else keep(path);
  dispatchEvent(new Event(CHANGED));
}

export function usePlace(): Place {
  const [place, setPlace] = useState(read);
  useEffect(() => {
    const changed = () => setPlace(read());
    addEventListener(CHANGED, changed);
    addEventListener("popstate", changed);
    return () => {
      removeEventListener(CHANGED, changed);
      removeEventListener("popstate", changed);
    };
  }, []);
  return place;
}
