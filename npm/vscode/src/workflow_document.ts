/** What the core says about the documents of the window. */

import type { Core, Edit, Finding, Outline } from "onloop";
import * as vscode from "vscode";
import { isWorkflow } from "./workflow_files.js";

/** One version of a document, about which the core is asked once and when somebody wants to know. */
export class Reading {
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

  /** The same place for the editor. */
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

/** The readings of all documents that are workflows. */
export class Readings {
  readonly #core: Core;
  readonly #known = new WeakMap<vscode.TextDocument, Reading>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** What a document says; nothing where it is no workflow. */
  of(document: vscode.TextDocument): Reading | undefined {
    if (document.languageId !== "markdown") return undefined;
    const known = this.#known.get(document);
    if (known?.version === document.version) return known;
    const text = document.getText();
    if (!isWorkflow(this.#core, document.uri.path, text)) return undefined;
    const reading = new Reading(this.#core, document, text);
    this.#known.set(document, reading);
    return reading;
  }
}
