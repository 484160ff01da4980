/** Failed steps as lines that the problem matcher `$onloop` parses. */

import type { Core, RunView } from "onloop";

/** One line for each failed or blocked step, with the place of its title in the workflow file. */
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
