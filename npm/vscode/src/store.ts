/** The runs of the open folders, as last read. */

import type { RunView } from "onloop";
import { type Programs, runProgram } from "./run_program.js";
import { EXIT } from "./program_result.js";
import { type Run, type RunEntry, inOrder, isFinished } from "./runs.js";

/** Most runs that are shown. */
const SHOWN_RUNS = 100;

export class Store {
  readonly #core: Programs;
  /** By folder. */
  #runs = new Map<string, Run[]>();
  /** The views by run, cleared by `refresh`. Modification times are too coarse to reuse them longer. */
  #views = new Map<string, RunView>();

  constructor(core: Programs) {
    this.#core = core;
  }

  /** Sorted by `inOrder`. */
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

  /** Reads the runs again; throws if that fails. */
  async refresh(folders: string[]): Promise<void> {
    const found = new Map<string, Run[]>();
    for (const folder of folders) found.set(folder, await this.#read(folder));
    this.#runs = found;
    this.#views = new Map();
  }

  /** The view of a run; `undefined` if its record cannot be read. */
  async view(run: Run): Promise<RunView | undefined> {
    const { run_id: id } = run.entry;
    const views = this.#views;
    const known = views.get(id);
    if (known !== undefined) return known;
    const folder = this.find(id)?.folder;
    if (folder === undefined) return undefined;
    const { exit, result } = await runProgram(this.#core, { folder, argv: ["status", id, "--json"] });
    if (exit !== EXIT.done) return undefined;
    const view = JSON.parse(result) as RunView;
    views.set(id, view);
    return view;
  }

  async #read(folder: string): Promise<Run[]> {
    const { exit, result, notes } = await runProgram(this.#core, { folder, argv: ["status", "--all", "--json"] });
    if (exit !== EXIT.done) throw new Error(notes.trim());
    const entries = JSON.parse(result) as RunEntry[];
    // A run of rw-auto has no record to show.
    return inOrder(entries.filter(({ kind }) => kind === undefined).map(known)).slice(0, SHOWN_RUNS);
  }
}

function known(entry: RunEntry): Run {
  const run = { entry, advice: undefined };
  return isFinished(run) ? run : { entry, advice: entry.next ?? undefined };
}
