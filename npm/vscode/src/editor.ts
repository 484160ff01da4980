/** What workflow files are told in every extension host: findings, and everything that is asked for. */

import type { Core, Outline } from "onloop";
import * as vscode from "vscode";
import { registerChanging } from "./changing.js";
import { registerActions } from "./code_actions.js";
import { diagnostic } from "./finding.js";
import { Readings } from "./reading.js";
import { registerShowing } from "./showing.js";
import { registerSuggest } from "./suggest.js";

/** Whoever types on within this time has not asked yet. */
const TYPING_MS = 150;

/** The language features, registered in `context`. */
export class Editor {
  readonly #shown = vscode.languages.createDiagnosticCollection("onloop");
  readonly #waiting = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #readings: Readings;

  constructor(core: Core, context: vscode.ExtensionContext) {
    this.#readings = new Readings(core);
    const { workspace } = vscode;
    context.subscriptions.push(
      this.#shown,
      workspace.onDidOpenTextDocument((document) => this.#show(document)),
      workspace.onDidChangeTextDocument(({ document }) => this.#soon(document)),
      workspace.onDidCloseTextDocument((document) => this.#forget(document)),
      { dispose: () => this.#waiting.forEach((timer) => clearTimeout(timer)) },
      ...registerActions(core, this.#readings),
      ...registerChanging(core, this.#readings),
      ...registerShowing(core, this.#readings),
      registerSuggest(core, this.#readings),
    );
    workspace.textDocuments.forEach((document) => this.#show(document));
  }

  /** Where the parts of a workflow are; nothing for other documents. */
  outline(document: vscode.TextDocument): Outline | undefined {
    return this.#readings.of(document)?.outline;
  }

  #soon(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    clearTimeout(this.#waiting.get(key));
    const timer = setTimeout(() => {
      this.#waiting.delete(key);
      if (!document.isClosed) this.#show(document);
    }, TYPING_MS);
    this.#waiting.set(key, timer);
  }

  #forget(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    clearTimeout(this.#waiting.get(key));
    this.#waiting.delete(key);
    this.#shown.delete(document.uri);
  }

  #show(document: vscode.TextDocument): void {
    const reading = this.#readings.of(document);
    if (reading === undefined) {
      this.#shown.delete(document.uri);
      return;
    }
    this.#shown.set(document.uri, reading.findings.map((found) => diagnostic(reading, found)));
  }
}
