// Where the page is: everything, or one run, and what is chosen there. The address has all of it.

import { useEffect, useState } from "preact/hooks";
import { root } from "./live.js";

export interface Place {
  /** The run that is shown; without one, everything is. */
  run: string | undefined;
  query: URLSearchParams;
}

function read(): Place {
  const run = /^\/run\/([^/]+)$/.exec(location.pathname.slice(root.length))?.[1];
  return { run, query: new URLSearchParams(location.search) };
}

const CHANGED = "place";

/** Shows what is at `path`, below the root. */
export function go(path: string): void {
  history.pushState(null, "", root + path);
  dispatchEvent(new Event(CHANGED));
  scrollTo(0, 0);
}

/** Chooses something at this place; an empty value takes a choice back. */
export function choose(choices: Record<string, string>): void {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(choices)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  const words = query.toString();
  history.replaceState(null, "", location.pathname + (words === "" ? "" : `?${words}`));
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
