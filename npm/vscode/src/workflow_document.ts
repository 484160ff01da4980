/** Workflow documents of the window, with cached results of the core. */

import type { Core, Edit, Finding, Outline } from "onloop";
import * as vscode from "vscode";
import { isWorkflow } from "./workflow_files.js";

/** One version of a document. The core computes each result once, on first use. */
export class WorkflowDocument {
  readonly document: vscode.TextDocument;
  readonly version: number;
  readonly text: string;
  readonly path: string;
  readonly #core: Core;
  #findings: Finding[] | undefined;
  #outline: Outline | undefined;

  constructor(core: Core, document: vscode.TextDocument, text: string) {
    this.#core = core;
    this.document = document;
    this.version = document.version;
    this.path = document.uri.path;
    this.text = text;
  }

  get findings(): Finding[] {
    return (this.#findings ??= this.#core.language.findings(this.path, this.text));
  }

  get outline(): Outline {
    return (this.#outline ??= this.#core.outline(this.path, this.text));
  }

  /** Converts offsets to a range of the editor. */
  range({ start, end }: { start: number; end: number }): vscode.Range {
    return new vscode.Range(this.document.positionAt(start), this.document.positionAt(end));
  }

  location(place: { start: number; end: number }): vscode.Location {
    return new vscode.Location(this.document.uri, this.range(place));
  }

  edits(edits: readonly Edit[]): vscode.TextEdit[] {
    return edits.map((edit) => new vscode.TextEdit(this.range(edit), edit.text));
  }

  workspaceEdit(edits: readonly Edit[]): vscode.WorkspaceEdit {
    const change = new vscode.WorkspaceEdit();
    change.set(this.document.uri, this.edits(edits));
    return change;
  }
}

/** The workflow documents by editor document. */
export class WorkflowDocuments {
  readonly #core: Core;
  readonly #known = new WeakMap<vscode.TextDocument, WorkflowDocument>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** The current version of a document; `undefined` unless it is a workflow. */
  of(document: vscode.TextDocument): WorkflowDocument | undefined {
    if (document.languageId !== "markdown") return undefined;
    const known = this.#known.get(document);
    if (known?.version === document.version) return known;
    const text = document.getText();
    if (!isWorkflow(this.#core, document.uri.path, text)) return undefined;
    const workflow = new WorkflowDocument(this.#core, document, text);
    this.#known.set(document, workflow);
    return workflow;
  }
}
