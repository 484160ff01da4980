/** Shows the steps and checks of the last run of each workflow in the test explorer. */

import type { CheckView, RunView } from "onloop";
import * as vscode from "vscode";
import { logError } from "./output.js";
import { type Run, isDriven, isFinished, label, runsOf, waitingGate } from "./runs.js";
import type { Watcher } from "./watcher.js";

type Step = RunView["steps"][number];

export class TestExplorer implements vscode.Disposable {
  readonly #watcher: Watcher;
  readonly #tests = vscode.tests.createTestController("onloop", "onloop");
  readonly #changed: vscode.Disposable;
  /** The last shown state of each file. */
  readonly #shown = new Map<string, string>();
  #showing: Promise<void> | undefined;
  #again = false;

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
    this.#changed = watcher.onDidChange(() => void this.#show());
    this.#tests.createRunProfile("Run Workflow", vscode.TestRunProfileKind.Run, (request) => runAll(request, this.#tests), true);
  }

  dispose(): void {
    this.#changed.dispose();
    this.#tests.dispose();
  }

  #show(): Promise<void> {
    this.#again = this.#showing !== undefined;
    this.#showing ??= this.#showAll().finally(() => (this.#showing = undefined));
    return this.#showing;
  }

  async #showAll(): Promise<void> {
    do {
      this.#again = false;
      const newest = newestRuns(this.#watcher.store.runs());
      for (const id of [...this.#tests.items].map(([id]) => id)) {
        if (newest.has(id)) continue;
        this.#tests.items.delete(id);
        this.#shown.delete(id);
      }
      for (const [file, run] of newest) {
        await this.#showRun(file, run).catch((error) => logError("the test explorer does not show a run", error));
      }
    } while (this.#again);
  }

  async #showRun(file: string, run: Run): Promise<void> {
    const { run_id: id, last_update: at, status } = run.entry;
    // The time of the last change has a resolution of a second.
    const seen = [id, at, status, waitingGate(run), isDriven(run)].join(" ");
    const known = this.#shown.get(file);
    // A driven run would add a result with every event.
    if (known === seen || (known !== undefined && isDriven(run))) return;
    const view = await this.#watcher.store.view(run);
    if (view === undefined) return;
    this.#shown.set(file, seen);
    const item = this.#tests.createTestItem(file, label(run), vscode.Uri.file(file));
    item.description = run.entry.run_id;
    this.#tests.items.add(item);
    const results: (() => void)[] = [];
    const request = new vscode.TestRunRequest([item]);
    const told = this.#tests.createTestRun(request, `${label(run)}: ${run.entry.run_id}`, false);
    for (const step of view.steps) results.push(...addStep(this.#tests, item, told, step, step.number === waitingGate(run)));
    results.forEach((report) => report());
    told.end();
  }
}

/** The run of each workflow file to show: the unfinished one, else the newest. */
function newestRuns(runs: readonly Run[]): Map<string, Run> {
  const files = new Set(runs.map(({ entry }) => entry.source_workflow_path ?? entry.workflow_path));
  const found = new Map<string, Run>();
  for (const file of files) {
    if (file === undefined) continue;
    const own = runsOf([...runs], file).filter(({ entry }) => !["unreadable", "untrusted"].includes(entry.status));
    const newest = own.find((run) => !isFinished(run)) ?? own[0];
    if (newest !== undefined) found.set(file, newest);
  }
  return found;
}

/** Adds a step and its checks. Returns functions that report the results, to call once all items exist. */
function addStep(
  tests: vscode.TestController,
  parent: vscode.TestItem,
  told: vscode.TestRun,
  step: Step,
  waits: boolean,
): (() => void)[] {
  const item = tests.createTestItem(`${parent.id} ${step.number}`, `${step.number}. ${step.name}`, parent.uri);
  if (waits) item.description = "waits for you";
  item.sortText = String(step.number).padStart(5, "0");
  parent.children.add(item);
  const results = (step.checks ?? []).map((check, at) => {
    const child = tests.createTestItem(`${item.id} ${at}`, check.what, parent.uri);
    child.sortText = String(at).padStart(5, "0");
    item.children.add(child);
    return () => reportCheck(told, child, check);
  });
  // The checks of a done step are its result. A waiting step has not passed yet.
  return waits || (results.length > 0 && step.status === "done") ? results : [...results, () => reportStep(told, item, step)];
}

function reportCheck(told: vscode.TestRun, item: vscode.TestItem, { result, reason, took_ms: took }: CheckView): void {
  switch (result) {
    case "passed":
      return told.passed(item, took ?? undefined);
    case "failed":
      return told.failed(item, new vscode.TestMessage(reason ?? "failed"), took ?? undefined);
    case "waits":
    case "open":
      return undefined;
  }
}

function reportStep(told: vscode.TestRun, item: vscode.TestItem, step: Step): void {
  switch (step.status) {
    case "done":
      return told.passed(item);
    case "failed":
    case "blocked":
      return told.failed(item, new vscode.TestMessage(step.block_reason ?? step.status));
    case "in_progress":
    case "pending":
      return undefined;
  }
}

/** Runs the workflows of the selected tests one after another. The watcher shows the results. */
async function runAll({ include }: vscode.TestRunRequest, tests: vscode.TestController): Promise<void> {
  const chosen = include ?? [...tests.items].map(([, item]) => item);
  const files = new Set(chosen.map(({ uri }) => uri?.fsPath).filter((file) => file !== undefined));
  for (const file of files) await vscode.commands.executeCommand("onloop.run", file);
}
