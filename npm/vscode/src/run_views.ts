/** Shows runs with the page of `onloop web`, which the program answers in this extension host. */

import { type Core, NodeHost } from "onloop";
import * as vscode from "vscode";
import { showFailure } from "./command_runner.js";
import { logError, logResult } from "./output.js";
import { PageConnection } from "./page_connection.js";
import { pageHtml } from "./page_html.js";
import { type About, pickRun } from "./pick_run.js";
import { runProgram } from "./run_program.js";
import { label, reportPath } from "./runs.js";
import { driverProgram } from "./terminal_path.js";
import { WebBridge } from "./web_bridge.js";
import { type Watcher, folders } from "./watcher.js";

/** The type of the webviews. */
export const PAGE = "onloop.page";
/** The place of everything, in the address of `onloop web`. */
const EVERYTHING = "/";

interface Shown {
  panel: vscode.WebviewPanel;
  place: string;
}

export class RunViews {
  readonly #context: vscode.ExtensionContext;
  readonly #core: Core;
  readonly #watcher: Watcher;
  readonly #shown = new Set<Shown>();
  /** The program that answers, while a page is open. */
  #program: { bridge: WebBridge; end: AbortController } | undefined;

  constructor(context: vscode.ExtensionContext, core: Core, watcher: Watcher) {
    this.#context = context;
    this.#core = core;
    this.#watcher = watcher;
  }

  register(): vscode.Disposable[] {
    const { registerCommand } = vscode.commands;
    return [
      registerCommand("onloop.report", (about: About, step?: unknown) => this.#showRun(about, step)),
      registerCommand("onloop.dashboard", () => this.#show(EVERYTHING)),
      registerCommand("onloop.reportText", (about: About) => this.#showText(about)),
      this.#watcher.onDidChange(() => this.#shown.forEach((shown) => this.#setTitle(shown))),
      { dispose: () => this.#shown.forEach(({ panel }) => panel.dispose()) },
    ];
  }

  /** Shows a page of the last window again. `saved` is what it has saved. */
  restore(panel: vscode.WebviewPanel, saved: unknown): void {
    const place = (saved as { place?: unknown } | undefined)?.place;
    this.#attach(panel, typeof place === "string" ? place : EVERYTHING);
  }

  async #showRun(about: About, step: unknown): Promise<void> {
    const found = await pickRun(this.#watcher, about, () => true, "Open which run?");
    if (found === undefined) return;
    this.#show(`/run/${found.run.entry.run_id}${typeof step === "number" ? `?step=${step}` : ""}`);
  }

  async #showText(about: About): Promise<void> {
    const found = await pickRun(this.#watcher, about, () => true, "Open which report?");
    const path = found && reportPath(found.run.entry);
    if (path !== undefined) await vscode.commands.executeCommand("markdown.showPreview", vscode.Uri.file(path));
  }

  #show(place: string): void {
    const open = [...this.#shown].find((shown) => pathOf(shown.place) === pathOf(place));
    if (open !== undefined) {
      open.panel.reveal();
      if (pathOf(place) !== place) void open.panel.webview.postMessage({ go: place });
      return;
    }
    this.#attach(vscode.window.createWebviewPanel(PAGE, "onloop", vscode.ViewColumn.Active, PANEL), place);
  }

  #attach(panel: vscode.WebviewPanel, place: string): void {
    const { webview } = panel;
    const folder = vscode.Uri.joinPath(this.#context.extensionUri, "dist", "page");
    const shown = { panel, place };
    const moved = (to: string): void => {
      shown.place = to;
      this.#setTitle(shown);
    };
    const connection = new PageConnection(() => this.#bridge(), (message) => void webview.postMessage(message), moved);
    this.#shown.add(shown);
    this.#setTitle(shown);
    panel.onDidDispose(() => {
      connection.close();
      this.#shown.delete(shown);
      if (this.#shown.size === 0) this.#end();
    });
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    webview.onDidReceiveMessage((message: unknown) => connection.receive(message));
    const file = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
    const files = { script: file("app.js"), styles: [file("app.css"), file("page.css")], origin: webview.cspSource };
    webview.html = pageHtml(files, place);
  }

  #setTitle({ panel, place }: Shown): void {
    const id = /^\/run\/([^/?]+)/.exec(place)?.[1];
    const found = id === undefined ? undefined : this.#watcher.store.find(id);
    const title = found === undefined ? (id ?? "onloop") : label(found.run);
    if (panel.title !== title) panel.title = title;
  }

  #bridge(): WebBridge {
    this.#program ??= this.#begin();
    return this.#program.bridge;
  }

  #begin(): { bridge: WebBridge; end: AbortController } {
    const cwd = folders()[0] ?? this.#context.extensionPath;
    const [bridge, end] = [new WebBridge(new NodeHost({ cwd, attended: false })), new AbortController()];
    const failed = (error: unknown): void => logError("runs cannot be shown", error);
    void this.#run(cwd, bridge, end.signal).catch(failed).finally(() => bridge.end());
    return { bridge, end };
  }

  async #run(folder: string, bridge: WebBridge, signal: AbortSignal): Promise<void> {
    const argv = ["web"];
    const ended = await runProgram(this.#core, {
      folder,
      argv,
      signal,
      program: await driverProgram(this.#context),
      listener: { result: (text) => bridge.heard(text) },
      serve: (request, signal) => bridge.perform(request, signal),
    });
    if (signal.aborted) return;
    logResult(folder, argv, ended);
    await showFailure("onloop cannot show runs", ended);
  }

  #end(): void {
    this.#program?.end.abort();
    this.#program = undefined;
  }
}

/** A page keeps what is typed in it while another tab is in front. */
const PANEL = { enableFindWidget: true, retainContextWhenHidden: true };

function pathOf(place: string): string | undefined {
  return place.split("?")[0];
}
