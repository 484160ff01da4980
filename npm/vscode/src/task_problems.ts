/** What of a run did not work, as lines with a place, which the matcher `$onloop` understands. */

import type { Core, RunView } from "onloop";

/** One line for each step that failed or is blocked, at its title in the workflow file. */
export function problems(core: Core, file: string, text: string, { steps }: RunView): string {
  const titles = new Map(core.outline(file, text).steps.map(({ number, title }) => [number, title.start]));
  return steps
    .filter(({ status }) => status === "failed" || status === "blocked")
    .map(({ number, name, status, block_reason: reason }) => {
      const before = text.slice(0, titles.get(number) ?? 0).split("\n");
      const place = `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
      const why = (reason ?? status).replace(/\s+/g, " ");
      return `${place}: error: step ${number}, ${name}: ${why}\n`;
    })
    .join("");
}
