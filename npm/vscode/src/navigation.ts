/** Reading a workflow: explanations, outline, folds, colours, ways from one place to another. */

import type { Core, Fold, SymbolPart } from "onloop";
import * as vscode from "vscode";
import type { Reading, Readings } from "./reading.js";
import { MARKDOWN } from "./workflow_files.js";

const SYMBOLS: Readonly<Record<SymbolPart["kind"], vscode.SymbolKind>> = {
  frontmatter: vscode.SymbolKind.Namespace,
  step: vscode.SymbolKind.Method,
  field: vscode.SymbolKind.Property,
  check: vscode.SymbolKind.Event,
};

const FOLDS: Readonly<Record<Fold["kind"], vscode.FoldingRangeKind | undefined>> = {
  frontmatter: vscode.FoldingRangeKind.Region,
  step: vscode.FoldingRangeKind.Region,
  lines: undefined,
  comment: vscode.FoldingRangeKind.Comment,
};

/** Where a workflow lies in a folder that is not open. */
const PLANS = /\/(?:docs\/plans|\.ai\/workflows)$/;

export function registerShowing({ language }: Core, readings: Readings): vscode.Disposable[] {
  const { languages } = vscode;
  return [
    languages.registerHoverProvider(MARKDOWN, {
      provideHover(document, position) {
        const reading = readings.of(document);
        const found = reading && language.hover(reading.path, reading.text, document.offsetAt(position));
        return found && new vscode.Hover(new vscode.MarkdownString(found.markdown), reading.range(found.span));
      },
    }),
    languages.registerDocumentSymbolProvider(
      MARKDOWN,
      {
        provideDocumentSymbols(document) {
          const reading = readings.of(document);
          return reading && language.symbols(reading.path, reading.text).map((part) => symbol(reading, part));
        },
      },
      { label: "onloop" },
    ),
    languages.registerFoldingRangeProvider(MARKDOWN, {
      provideFoldingRanges(document) {
        const reading = readings.of(document);
        const folds = reading === undefined ? [] : language.folds(reading.path, reading.text);
        return folds.map(({ kind, span }) => new vscode.FoldingRange(span.line - 1, span.end_line - 1, FOLDS[kind]));
      },
    }),
    languages.registerDocumentLinkProvider(MARKDOWN, {
      provideDocumentLinks(document) {
        const reading = readings.of(document);
        const links = reading === undefined ? [] : language.links(reading.path, reading.text);
        const target = (path: string): vscode.Uri => vscode.Uri.joinPath(root(document.uri), path);
        return links.map(({ path, span }) => new vscode.DocumentLink(reading!.range(span), target(path)));
      },
    }),
    ...registerSteps({ language }, readings),
    ...registerColours({ language }, readings),
  ];
}

/** From what mentions a step to the step, and back. */
function registerSteps({ language }: Pick<Core, "language">, readings: Readings): vscode.Disposable[] {
  const { languages } = vscode;
  return [
    languages.registerDefinitionProvider(MARKDOWN, {
      provideDefinition(document, position) {
        const reading = readings.of(document);
        const step = reading && language.step(reading.path, reading.text, document.offsetAt(position));
        return step && reading.location(step.title);
      },
    }),
    languages.registerReferenceProvider(MARKDOWN, {
      provideReferences(document, position, { includeDeclaration }) {
        const reading = readings.of(document);
        const step = reading && language.step(reading.path, reading.text, document.offsetAt(position));
        if (step === undefined) return [];
        const places = includeDeclaration ? [step.number, ...step.mentions] : step.mentions;
        return places.map((place) => reading!.location(place));
      },
    }),
  ];
}

function registerColours({ language }: Pick<Core, "language">, readings: Readings): vscode.Disposable[] {
  const { languages } = vscode;
  // Commands have colours of a shell already, from the grammar: a kind of our own leaves them alone.
  const legend = new vscode.SemanticTokensLegend(language.tokenKinds().map((kind) => (kind === "string" ? "command" : kind)));
  const tokens = (document: vscode.TextDocument, range?: vscode.Range): vscode.SemanticTokens | undefined => {
    const reading = readings.of(document);
    if (reading === undefined) return undefined;
    const places = range === undefined ? [] : [document.offsetAt(range.start), document.offsetAt(range.end)];
    const [start, end] = places;
    return new vscode.SemanticTokens(language.tokens(reading.path, reading.text, start, end));
  };
  return [
    languages.registerDocumentSemanticTokensProvider(MARKDOWN, { provideDocumentSemanticTokens: (document) => tokens(document) }, legend),
    languages.registerDocumentRangeSemanticTokensProvider(MARKDOWN, { provideDocumentRangeSemanticTokens: tokens }, legend),
  ];
}

function symbol(reading: Reading, part: SymbolPart): vscode.DocumentSymbol {
  const [range, selection] = [reading.range(part.span), reading.range(part.selection)];
  const shown = new vscode.DocumentSymbol(part.name, part.detail, SYMBOLS[part.kind], range, selection);
  shown.children = part.children.map((child) => symbol(reading, child));
  return shown;
}

/** Where the paths of a workflow begin, as the language server finds it. */
function root(uri: vscode.Uri): vscode.Uri {
  const open = vscode.workspace.getWorkspaceFolder(uri);
  if (open !== undefined) return open.uri;
  const folder = vscode.Uri.joinPath(uri, "..");
  return folder.with({ path: folder.path.replace(PLANS, "") || "/" });
}
