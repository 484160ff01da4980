/** Steps and checks of the last run of each workflow, in the editor's tree of tests. */

import type { CheckView, RunView } from "onloop";
import * as vscode from "vscode";
import { logError } from "./output.js";
import { type Run, isDriven, isOver, label, runsOf, waitingGate } from "./runs.js";
import type { Watcher } from "./watcher.js";

type Step = RunView["steps"][number];

export class TestExplorer implements vscode.Disposable {
  readonly #watcher: Watcher;
  readonly #tests = vscode.tests.createTestController("onloop", "onloop");
  readonly #changed: vscode.Disposable;
  /** What of each run was told: its last change, and how it stood then. */
  readonly #told = new Map<string, string>();
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
        this.#told.delete(id);
      }
      for (const [file, run] of newest) {
        await this.#showRun(file, run).catch((error) => logError("a run is not among the tests", error));
      }
    } while (this.#again);
  }

  async #showRun(file: string, run: Run): Promise<void> {
    const { run_id: id, last_update: at, status } = run.entry;
    // Much can happen within the second of its last change.
    const seen = [id, at, status, waitingGate(run), isDriven(run)].join(" ");
    const known = this.#told.get(file);
    // While it is worked on there would be one more result with every line of its record.
    if (known === seen || (known !== undefined && isDriven(run))) return;
    const view = await this.#watcher.store.view(run);
    if (view === undefined) return;
    this.#told.set(file, seen);
    const item = this.#tests.createTestItem(file, label(run), vscode.Uri.file(file));
    item.description = run.entry.run_id;
    this.#tests.items.add(item);
    const results: (() => void)[] = [];
    const request = new vscode.TestRunRequest([item]);
    const told = this.#tests.createTestRun(request, `${label(run)}: ${run.entry.run_id}`, false);
    for (const step of view.steps) results.push(...addStep(this.#tests, item, told, step, step.number === waitingGate(run)));
    results.forEach((tell) => tell());
    told.end();
  }
}

/** The run of each workflow file that tells most about it: the unfinished one, else the newest. */
function newestRuns(runs: readonly Run[]): Map<string, Run> {
  const files = new Set(runs.map(({ entry }) => entry.source_workflow_path ?? entry.workflow_path));
  const found = new Map<string, Run>();
  for (const file of files) {
    if (file === undefined) continue;
    const own = runsOf([...runs], file).filter(({ entry }) => !["unreadable", "untrusted"].includes(entry.status));
    const newest = own.find((run) => !isOver(run)) ?? own[0];
    if (newest !== undefined) found.set(file, newest);
  }
  return found;
}

/** Adds a step with its checks below; what came of them is told when all are there. */
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
    return () => tellCheck(told, child, check);
  });
  // A step whose checks say how it stands needs no word of its own; one that waits has not passed.
  return waits || (results.length > 0 && step.status === "done") ? results : [...results, () => tellStep(told, item, step)];
}

function tellCheck(told: vscode.TestRun, item: vscode.TestItem, { result, reason, took_ms: took }: CheckView): void {
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

function tellStep(told: vscode.TestRun, item: vscode.TestItem, step: Step): void {
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

/** Runs the workflows of what was chosen, one after another; their records tell the results. */
async function runAll({ include }: vscode.TestRunRequest, tests: vscode.TestController): Promise<void> {
  const chosen = include ?? [...tests.items].map(([, item]) => item);
  const files = new Set(chosen.map(({ uri }) => uri?.fsPath).filter((file) => file !== undefined));
  for (const file of files) await vscode.commands.executeCommand("onloop.run", file);
}
