/** The programs of onloop, performed by this extension host. */

import { type Core, type Host, NodeHost, type Outcome, type ProcessRequest } from "onloop";
import type { Ended } from "./ended.js";

/** Who hears what a program says. */
export interface Listener {
  /** Words for people, with the styles of a terminal. */
  note?(text: string): void;
  /** Results for programs. */
  result?(text: string): void;
  /** What is being waited for. */
  doing?(label: string): void;
}

/** What performs command lines: a core, or something that will have one. */
export type Programs = Pick<Core, "run">;

/** A command line to perform. */
export interface Job {
  /** Where it is performed. */
  folder: string;
  /** Without the name of the program. */
  argv: string[];
  /** Does what Ctrl-C does. */
  signal?: AbortSignal;
  listener?: Listener;
  /** Stands in for the processes that it chooses; undefined: the process is started. */
  play?(request: ProcessRequest): Promise<Outcome> | undefined;
}

/** Most of what is kept of each stream. A list of ten thousand runs is shorter. */
const KEPT_UNITS = 16 * 1024 * 1024;
const STYLES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;

/** Jobs that have not ended. The window waits for them before it goes. */
const running = new Map<AbortController, Promise<unknown>>();
/** Those of them that drive a run, by its id. */
const driving = new Map<string, AbortController>();
/** All that were driven here since the window was opened. */
const driven = new Set<string>();

/** Interrupts the job of this window that drives a run; false: none does. */
export function stop(runId: string): boolean {
  const controller = driving.get(runId);
  controller?.abort();
  return controller !== undefined;
}

/** Whether a job of this window drives the run, or did. */
export function wasDriven(runId: string): boolean {
  return driven.has(runId);
}

/** Interrupts whatever runs, and waits until it is recorded. */
export async function endAll(): Promise<void> {
  const ends = [...running.values()];
  for (const controller of running.keys()) controller.abort();
  await Promise.allSettled(ends);
}

export async function conduct(core: Programs, job: Job): Promise<Ended> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  job.signal?.addEventListener("abort", abort);
  if (job.signal?.aborted) abort();
  const end = perform(core, job, controller);
  running.set(controller, end);
  try {
    return await end;
  } finally {
    running.delete(controller);
    for (const [id, driver] of driving) if (driver === controller) driving.delete(id);
    job.signal?.removeEventListener("abort", abort);
  }
}

async function perform(core: Programs, job: Job, controller: AbortController): Promise<Ended> {
  const { signal } = controller;
  const node = new NodeHost({ cwd: job.folder, attended: false });
  const said = { result: "", note: "" };
  let runId: string | undefined;
  const { listener } = job;
  const interrupt = (): void => node.interrupt();
  if (signal.aborted) interrupt();
  signal.addEventListener("abort", interrupt);
  const host: Host = {
    nowMs: () => node.nowMs(),
    end: () => node.end(),
    perform: async (request) => {
      switch (request.do) {
        case "lock": {
          const outcome = await node.perform(request);
          if (request.run != null) {
            runId = request.run;
            driving.set(runId, controller);
            driven.add(runId);
          }
          return outcome;
        }
        case "process":
          if (request.label !== null) listener?.doing?.(request.label);
          runId = request.env_set["ONLOOP_RUN_ID"] ?? runId;
          return job.play?.(request) ?? node.perform(withoutEditor(request));
        case "say":
          said[request.to] = (said[request.to] + request.text).slice(-KEPT_UNITS);
          listener?.[request.to]?.(request.text);
          return { is: "done" };
        default:
          return node.perform(request);
      }
    },
  };
  try {
    const start = node.start(["onloop", ...job.argv]);
    const env = Object.fromEntries(Object.entries(start.env).filter(([name]) => !isOfEditor(name)));
    // The record says through which door a person has decided.
    const exit = await core.run({ ...start, env: { ...env, ONLOOP_DOOR: "editor" } }, host);
    const notes = said.note.replace(STYLES, "");
    return { exit, result: said.result, notes, ...(runId !== undefined && { runId }) };
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
}

/** What the editor tells its own processes would make other programs of an editor misbehave. */
function isOfEditor(name: string): boolean {
  return name.startsWith("VSCODE_") || name === "ELECTRON_RUN_AS_NODE";
}

function withoutEditor(request: ProcessRequest): ProcessRequest {
  const inherited = Object.keys(process.env).filter(isOfEditor);
  return { ...request, env_remove: [...request.env_remove, ...inherited] };
}
