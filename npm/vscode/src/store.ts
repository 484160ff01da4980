/** What is known about the runs of the open folders. */

import type { RunView } from "onloop";
import { type Programs, conduct } from "./conduct.js";
import { EXIT } from "./ended.js";
import { type Run, type RunEntry, inOrder, isOver } from "./runs.js";

/** Most runs that are shown; older ones are on the disk. */
const SHOWN_RUNS = 100;

export class Store {
  readonly #core: Programs;
  /** By folder. */
  #runs = new Map<string, Run[]>();
  /** By run; good until somebody looks again. Times are too coarse to tell records apart. */
  #views = new Map<string, RunView>();

  constructor(core: Programs) {
    this.#core = core;
  }

  /** Newest first, unfinished ones before the others. */
  runs(folder?: string): Run[] {
    if (folder !== undefined) return this.#runs.get(folder) ?? [];
    return inOrder([...this.#runs.values()].flat());
  }

  find(id: string): { run: Run; folder: string } | undefined {
    for (const [folder, runs] of this.#runs) {
      const run = runs.find(({ entry }) => entry.run_id === id);
      if (run !== undefined) return { run, folder };
    }
    return undefined;
  }

  /** Looks again; throws when it cannot. */
  async refresh(folders: string[]): Promise<void> {
    const found = new Map<string, Run[]>();
    for (const folder of folders) found.set(folder, await this.#read(folder));
    this.#runs = found;
    this.#views = new Map();
  }

  /** The steps of a run; nothing where its record cannot be read. */
  async view(run: Run): Promise<RunView | undefined> {
    const { run_id: id } = run.entry;
    const views = this.#views;
    const known = views.get(id);
    if (known !== undefined) return known;
    const folder = this.find(id)?.folder;
    if (folder === undefined) return undefined;
    const { exit, result } = await conduct(this.#core, { folder, argv: ["status", id, "--json"] });
    if (exit !== EXIT.done) return undefined;
    const view = JSON.parse(result) as RunView;
    views.set(id, view);
    return view;
  }

  async #read(folder: string): Promise<Run[]> {
    const { exit, result, notes } = await conduct(this.#core, { folder, argv: ["status", "--all", "--json"] });
    if (exit !== EXIT.done) throw new Error(notes.trim());
    const entries = JSON.parse(result) as RunEntry[];
    return inOrder(entries.map(known)).slice(0, SHOWN_RUNS);
  }
}

function known(entry: RunEntry): Run {
  const run = { entry, advice: undefined };
  return isOver(run) ? run : { entry, advice: entry.next ?? undefined };
}
