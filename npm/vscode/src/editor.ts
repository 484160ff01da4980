/** The language features of workflow files, in every extension host. */

import type { Core, Outline } from "onloop";
import * as vscode from "vscode";
import { registerEditing } from "./editing.js";
import { registerActions } from "./code_actions.js";
import { diagnostic } from "./finding.js";
import { WorkflowDocuments } from "./workflow_document.js";
import { registerNavigation } from "./navigation.js";
import { registerSuggest } from "./suggest.js";

/** The delay of findings after the last key. */
const TYPING_MS = 150;

/** Registers the language features in `context`. */
export class Editor {
  readonly #shown = vscode.languages.createDiagnosticCollection("onloop");
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #workflows: WorkflowDocuments;

  constructor(core: Core, context: vscode.ExtensionContext) {
    this.#workflows = new WorkflowDocuments(core);
    const { workspace } = vscode;
    context.subscriptions.push(
      this.#shown,
      workspace.onDidOpenTextDocument((document) => this.#show(document)),
      workspace.onDidChangeTextDocument(({ document }) => this.#showLater(document)),
      workspace.onDidCloseTextDocument((document) => this.#close(document)),
      { dispose: () => this.#timers.forEach((timer) => clearTimeout(timer)) },
      ...registerActions(core, this.#workflows),
      ...registerEditing(core, this.#workflows),
      ...registerNavigation(core, this.#workflows),
      registerSuggest(core, this.#workflows),
    );
    workspace.textDocuments.forEach((document) => this.#show(document));
  }

  /** The outline of a workflow; `undefined` for other documents. */
  outline(document: vscode.TextDocument): Outline | undefined {
    return this.#workflows.of(document)?.outline;
  }

  #showLater(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    const timer = setTimeout(() => {
      this.#timers.delete(key);
      if (!document.isClosed) this.#show(document);
    }, TYPING_MS);
    this.#timers.set(key, timer);
  }

  #close(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    this.#shown.delete(document.uri);
  }

  #show(document: vscode.TextDocument): void {
    const workflow = this.#workflows.of(document);
    if (workflow === undefined) {
      this.#shown.delete(document.uri);
      return;
    }
    this.#shown.set(document.uri, workflow.findings.map((found) => diagnostic(workflow, found)));
  }
}
