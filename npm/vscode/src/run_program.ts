/** Runs onloop programs in this extension host. */

import { type Core, type Host, NodeHost, type Outcome, type ProcessRequest, type ServeRequest } from "onloop";
import type { ProgramResult } from "./program_result.js";

/** Receives the output of a program. */
export interface Listener {
  /** Standard error, with styles of a terminal. */
  note?(text: string): void;
  /** Standard output. */
  result?(text: string): void;
  /** The label of a started process. */
  doing?(label: string): void;
}

/** Runs command lines. */
export type Programs = Pick<Core, "run">;

/** A command line to run. */
export interface Job {
  folder: string;
  /** Without the name of the program. */
  argv: string[];
  /** Interrupts the program, as Ctrl-C does. */
  signal?: AbortSignal;
  listener?: Listener;
  /** May replace a process; `undefined` starts the process. */
  replaceProcess?(request: ProcessRequest): Promise<Outcome> | undefined;
  /** Serves in place of a port. Such a job drives no run itself. */
  serve?(request: ServeRequest, signal: AbortSignal): Promise<Outcome>;
  /** What starts drivers in the background; without it none is started. */
  program?: string[];
}

/** Most output that is kept of each stream. A list of ten thousand runs is shorter. */
const KEPT_UNITS = 16 * 1024 * 1024;
const STYLES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;

/** Running jobs. The window waits for them before it closes. */
const running = new Map<AbortController, Promise<unknown>>();
/** The running jobs that drive a run, by its id. */
const driving = new Map<string, AbortController>();
/** All runs that this window has driven. */
const driven = new Set<string>();

/** Interrupts the job of this window that drives a run; false if there is none. */
export function stop(runId: string): boolean {
  const controller = driving.get(runId);
  controller?.abort();
  return controller !== undefined;
}

/** Whether this window drives the run, or did. */
export function drivenHere(runId: string): boolean {
  return driven.has(runId);
}

/** Interrupts all running jobs, and waits for their ends. */
export async function endAll(): Promise<void> {
  const ends = [...running.values()];
  for (const controller of running.keys()) controller.abort();
  await Promise.allSettled(ends);
}

export async function runProgram(core: Programs, job: Job): Promise<ProgramResult> {
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

async function perform(core: Programs, job: Job, controller: AbortController): Promise<ProgramResult> {
  const { signal } = controller;
  const node = new NodeHost({ cwd: job.folder, attended: false });
  const output = { result: "", note: "" };
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
          if (request.run != null && job.serve === undefined) {
            runId = request.run;
            driving.set(runId, controller);
            driven.add(runId);
          }
          return outcome;
        }
        case "process":
          if (request.label !== null) listener?.doing?.(request.label);
          runId = request.env_set["ONLOOP_RUN_ID"] ?? runId;
          return job.replaceProcess?.(request) ?? node.perform(withoutEditor(request));
        case "launch":
          return node.perform(withoutEditor(request));
        case "serve":
          return job.serve?.(request, signal) ?? node.perform(request);
        case "say":
          output[request.to] = (output[request.to] + request.text).slice(-KEPT_UNITS);
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
    // The record names the channel of a decision.
    const program = job.program === undefined ? {} : { program: job.program };
    const exit = await core.run({ ...start, ...program, env: { ...env, ONLOOP_CHANNEL: "editor" } }, host);
    const notes = output.note.replace(STYLES, "");
    return { exit, result: output.result, notes, ...(runId !== undefined && { runId }) };
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
}

/** Variables for the editor's own processes, which would disturb other programs. */
export function isOfEditor(name: string): boolean {
  return name.startsWith("VSCODE_") || name === "ELECTRON_RUN_AS_NODE";
}

function withoutEditor<T extends { env_remove: string[] }>(request: T): T {
  const inherited = Object.keys(process.env).filter(isOfEditor);
  return { ...request, env_remove: [...request.env_remove, ...inherited] };
}
