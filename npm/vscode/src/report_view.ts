/** Shows the report of a run as a page that follows the record. */

import type { Core } from "onloop";
import * as vscode from "vscode";
import { type About, pickRun } from "./pick_run.js";
import { runProgram } from "./run_program.js";
import { EXIT } from "./program_result.js";
import { logError } from "./output.js";
import { page, errorPage } from "./report_page.js";
import { label, reportPath } from "./runs.js";
import type { Watcher } from "./watcher.js";

const TYPE = "onloop.report";

/** The saved state of a page, for the next window. */
interface Remembered {
  id: string;
}

export class ReportViews implements vscode.WebviewPanelSerializer<Remembered> {
  readonly #core: Core;
  readonly #watcher: Watcher;
  readonly #open = new Map<string, { panel: vscode.WebviewPanel; seen: string | undefined }>();

  constructor(core: Core, watcher: Watcher) {
    this.#core = core;
    this.#watcher = watcher;
  }

  register(): vscode.Disposable[] {
    return [
      vscode.commands.registerCommand("onloop.report", (about: About) => this.#show(about)),
      vscode.commands.registerCommand("onloop.reportText", (about: About) => this.#text(about)),
      vscode.window.registerWebviewPanelSerializer(TYPE, this),
      this.#watcher.onDidChange(() => this.#follow()),
      { dispose: () => this.#open.forEach(({ panel }) => panel.dispose()) },
    ];
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, remembered: Remembered | undefined): Promise<void> {
    if (typeof remembered?.id !== "string") return panel.dispose();
    await this.#watcher.refresh();
    await this.#attach(panel, remembered.id);
  }

  async #show(about: About): Promise<void> {
    const found = await pickRun(this.#watcher, about, () => true, "Open which report?");
    if (found === undefined) return;
    const { run_id: id } = found.run.entry;
    const open = this.#open.get(id);
    if (open !== undefined) return open.panel.reveal();
    const title = `${label(found.run)}: report`;
    const panel = vscode.window.createWebviewPanel(TYPE, title, vscode.ViewColumn.Active, {
      // The script saves the run id.
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [],
    });
    await this.#attach(panel, id);
  }

  async #text(about: About): Promise<void> {
    const found = await pickRun(this.#watcher, about, () => true, "Open which report?");
    const path = found && reportPath(found.run.entry);
    if (path !== undefined) await vscode.commands.executeCommand("markdown.showPreview", vscode.Uri.file(path));
  }

  async #attach(panel: vscode.WebviewPanel, id: string): Promise<void> {
    this.#open.set(id, { panel, seen: undefined });
    panel.onDidDispose(() => this.#open.delete(id));
    panel.onDidChangeViewState(() => void this.#draw(id));
    await this.#draw(id);
  }

  #follow(): void {
    for (const id of this.#open.keys()) void this.#draw(id).catch((error) => logError("a report was not drawn", error));
  }

  /** Draws a visible page again if the record has changed. */
  async #draw(id: string): Promise<void> {
    const open = this.#open.get(id);
    const found = this.#watcher.store.find(id);
    const seen = found?.run.entry.last_update ?? "";
    if (open === undefined || !open.panel.visible || open.seen === seen) return;
    open.seen = seen;
    const html = await this.#html(id, found?.folder);
    // The panel may be closed by now.
    if (this.#open.get(id) === open) open.panel.webview.html = html;
  }

  async #html(id: string, folder: string | undefined): Promise<string> {
    if (folder === undefined) return errorPage(id, "This window has no such run.");
    const { exit, result, notes } = await runProgram(this.#core, { folder, argv: ["report", id, "--html"] });
    return exit === EXIT.done ? page(id, result) : errorPage(id, notes);
  }
}
