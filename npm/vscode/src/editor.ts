/** Diagnostics, fixes, completion, hover and symbols; the same in every extension host. */

import type { Core, Diagnostic, Field, Outline } from "onloop";
import * as vscode from "vscode";
import { complete, explain } from "./completion.js";
import { isWorkflow } from "./workflow_files.js";

const MARKDOWN: vscode.DocumentSelector = { language: "markdown" };
const FIX_ALL = vscode.CodeActionKind.SourceFixAll.append("onloop");
const FINDINGS = "https://github.com/onloop/onloop/blob/main/docs/workflow-format.md#findings";
/** Whoever types on within this time has not asked yet. */
const TYPING_MS = 150;

/** Letters with which names of fields and values begin. */
const LETTERS = "abcdefghijklmnopqrstuvwxyzS";

/** What the core says about one version of a document, asked once and when somebody wants to know. */
class Reading {
  readonly version: number;
  readonly text: string;
  readonly #core: Core;
  readonly #path: string;
  #findings: Diagnostic[] | undefined;
  #outline: Outline | undefined;

  constructor(core: Core, path: string, version: number, text: string) {
    this.#core = core;
    this.#path = path;
    this.version = version;
    this.text = text;
  }

  get findings(): Diagnostic[] {
    return (this.#findings ??= this.#core.lint(this.#path, this.text));
  }

  get outline(): Outline {
    return (this.#outline ??= this.#core.outline(this.#path, this.text));
  }
}

/** The language features, registered in `context`. */
export class Editor {
  readonly #core: Core;
  readonly #fields: Field[];
  readonly #shown = vscode.languages.createDiagnosticCollection("onloop");
  readonly #waiting = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #readings = new WeakMap<vscode.TextDocument, Reading>();

  constructor(core: Core, context: vscode.ExtensionContext) {
    this.#core = core;
    this.#fields = core.fields();
    const { languages, workspace } = vscode;
    context.subscriptions.push(
      this.#shown,
      workspace.onDidOpenTextDocument((document) => this.#show(document)),
      workspace.onDidChangeTextDocument(({ document }) => this.#soon(document)),
      workspace.onDidCloseTextDocument((document) => this.#forget(document)),
      { dispose: () => this.#waiting.forEach((timer) => clearTimeout(timer)) },
      languages.registerCodeActionsProvider(
        MARKDOWN,
        { provideCodeActions: (document, range, context) => this.#actions(document, range, context) },
        { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, FIX_ALL] },
      ),
      languages.registerCompletionItemProvider(
        MARKDOWN,
        { provideCompletionItems: (document, position) => this.#completions(document, position) },
        // Markdown does not suggest by itself; where no field can stand there is no answer.
        ...` :${LETTERS}`,
      ),
      languages.registerFoldingRangeProvider(MARKDOWN, { provideFoldingRanges: (document) => this.#folds(document) }),
      languages.registerHoverProvider(MARKDOWN, {
        provideHover: (document, position) => this.#hover(document, position),
      }),
      languages.registerDocumentSymbolProvider(
        MARKDOWN,
        { provideDocumentSymbols: (document) => this.#symbols(document) },
        { label: "onloop" },
      ),
    );
    workspace.textDocuments.forEach((document) => this.#show(document));
  }

  /** Where the parts of a workflow are; nothing for other documents. */
  outline(document: vscode.TextDocument): Outline | undefined {
    return this.#read(document)?.outline;
  }

  #read(document: vscode.TextDocument): Reading | undefined {
    if (document.languageId !== "markdown") return undefined;
    const known = this.#readings.get(document);
    if (known?.version === document.version) return known;
    const { path } = document.uri;
    const text = document.getText();
    if (!isWorkflow(this.#core, path, text)) return undefined;
    const reading = new Reading(this.#core, path, document.version, text);
    this.#readings.set(document, reading);
    return reading;
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
    const reading = this.#read(document);
    if (reading === undefined) {
      this.#shown.delete(document.uri);
      return;
    }
    this.#shown.set(document.uri, reading.findings.map((found) => diagnostic(document, found)));
  }

  #actions(
    document: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    const reading = this.#read(document);
    if (reading === undefined) return [];
    const mendable = reading.findings.filter(({ fix }) => fix !== null);
    const asked = context.only;
    if (asked !== undefined && FIX_ALL.intersects(asked)) return this.#fixAll(document, mendable.length);
    return mendable.flatMap((found) => {
      const place = diagnostic(document, found);
      if (place.range.intersection(range) === undefined || found.fix === null) return [];
      const action = new vscode.CodeAction(sentence(found.fix.title), vscode.CodeActionKind.QuickFix);
      action.diagnostics = [place];
      action.isPreferred = true;
      action.edit = new vscode.WorkspaceEdit();
      for (const { start, end, text } of found.fix.edits) {
        action.edit.replace(document.uri, rangeOf(document, start, end), text);
      }
      return [action];
    });
  }

  #fixAll(document: vscode.TextDocument, mendable: number): vscode.CodeAction[] {
    if (mendable === 0) return [];
    const before = document.getText();
    const { text } = this.#core.fix(document.uri.path, before);
    const action = new vscode.CodeAction("Mend everything that can be mended", FIX_ALL);
    action.edit = new vscode.WorkspaceEdit();
    action.edit.replace(document.uri, rangeOf(document, 0, before.length), text);
    return [action];
  }

  #completions(document: vscode.TextDocument, position: vscode.Position): vscode.CompletionItem[] {
    const reading = this.#read(document);
    if (reading === undefined) return [];
    const offset = document.offsetAt(position);
    const proposals = complete(this.#fields, reading.text, reading.outline, offset);
    return proposals.map(({ label, snippet, about, span, goesOn }, at) => {
      const item = new vscode.CompletionItem(label, vscode.CompletionItemKind.Property);
      item.insertText = new vscode.SnippetString(snippet);
      item.documentation = new vscode.MarkdownString(about);
      item.range = rangeOf(document, span.start, span.end);
      item.sortText = String(at).padStart(3, "0");
      if (goesOn) item.command = { command: "editor.action.triggerSuggest", title: "Choose a value" };
      return item;
    });
  }

  #hover(document: vscode.TextDocument, position: vscode.Position): vscode.Hover | undefined {
    const reading = this.#read(document);
    if (reading === undefined) return undefined;
    const offset = document.offsetAt(position);
    const found = explain(this.#fields, reading.text, reading.outline, offset);
    if (found === undefined) return undefined;
    const { markdown, span } = found;
    return new vscode.Hover(new vscode.MarkdownString(markdown), rangeOf(document, span.start, span.end));
  }

  /** Whole steps, without the blank lines behind them. */
  #folds(document: vscode.TextDocument): vscode.FoldingRange[] {
    const reading = this.#read(document);
    return (reading?.outline.steps ?? []).flatMap(({ span }) => {
      const end = span.start + reading!.text.slice(span.start, span.end).trimEnd().length;
      const [first, last] = [document.positionAt(span.start).line, document.positionAt(end).line];
      return last > first ? [new vscode.FoldingRange(first, last, vscode.FoldingRangeKind.Region)] : [];
    });
  }

  #symbols(document: vscode.TextDocument): vscode.DocumentSymbol[] {
    const reading = this.#read(document);
    return (reading?.outline.steps ?? []).map(({ number, name, span, title }) => {
      const range = rangeOf(document, span.start, span.end);
      const selection = rangeOf(document, title.start, title.end);
      const shown = `Step ${number}: ${name}`;
      return new vscode.DocumentSymbol(shown, "", vscode.SymbolKind.Method, range, selection);
    });
  }
}

function diagnostic(document: vscode.TextDocument, found: Diagnostic): vscode.Diagnostic {
  const severity = found.severity === "error" ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const text = found.help === null ? found.message : `${found.message}\n${found.help}`;
  const shown = new vscode.Diagnostic(rangeOf(document, found.start, found.end), text, severity);
  shown.source = "onloop";
  shown.code = { value: found.code, target: vscode.Uri.parse(FINDINGS) };
  return shown;
}

function rangeOf(document: vscode.TextDocument, start: number, end: number): vscode.Range {
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
