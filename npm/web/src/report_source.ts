// Facts of one run that are in the document itself: a report, which does not change and decides nothing.

import type { Source } from "./source.js";

interface Facts {
  start: string;
  /** Which of the values is at a path. */
  places: Record<string, number>;
  values: unknown[];
}

const embedded = document.getElementById("facts")?.textContent;

function reportOf({ start, places, values }: Facts): Source {
  return {
    root: "",
    start,
    get: (path) => {
      const at = places[path];
      return Promise.resolve(at === undefined ? { status: 404 } : { status: 200, value: values[at] });
    },
    post: () => Promise.resolve({ status: 404 }),
    listen: () => () => undefined,
  };
}

export const report = typeof embedded === "string" ? reportOf(JSON.parse(embedded) as Facts) : undefined;

/** Whether the page is a report. */
export const isReport = report !== undefined;
