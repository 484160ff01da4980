/** Hovers, outline, folding, links, definitions, references and semantic colors. */

import type { Core, Fold, SymbolPart } from "onloop";
import * as vscode from "vscode";
import type { WorkflowDocument, WorkflowDocuments } from "./workflow_document.js";
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

/** Folders of workflows below the root of a repository. */
const PLANS = /\/(?:docs\/plans|\.ai\/workflows)$/;

export function registerNavigation({ language }: Core, workflows: WorkflowDocuments): vscode.Disposable[] {
  const { languages } = vscode;
  return [
    languages.registerHoverProvider(MARKDOWN, {
      provideHover(document, position) {
        const workflow = workflows.of(document);
        const found = workflow && language.hover(workflow.path, workflow.text, document.offsetAt(position));
        return found && new vscode.Hover(new vscode.MarkdownString(found.markdown), workflow.range(found.span));
      },
    }),
    languages.registerDocumentSymbolProvider(
      MARKDOWN,
      {
        provideDocumentSymbols(document) {
          const workflow = workflows.of(document);
          return workflow && language.symbols(workflow.path, workflow.text).map((part) => symbol(workflow, part));
        },
      },
      { label: "onloop" },
    ),
    languages.registerFoldingRangeProvider(MARKDOWN, {
      provideFoldingRanges(document) {
        const workflow = workflows.of(document);
        const folds = workflow === undefined ? [] : language.folds(workflow.path, workflow.text);
        return folds.map(({ kind, span }) => new vscode.FoldingRange(span.line - 1, span.end_line - 1, FOLDS[kind]));
      },
    }),
    languages.registerDocumentLinkProvider(MARKDOWN, {
      provideDocumentLinks(document) {
        const workflow = workflows.of(document);
        const links = workflow === undefined ? [] : language.links(workflow.path, workflow.text);
        const target = (path: string): vscode.Uri => vscode.Uri.joinPath(root(document.uri), path);
        return links.map(({ path, span }) => new vscode.DocumentLink(workflow!.range(span), target(path)));
      },
    }),
    ...registerStepReferences({ language }, workflows),
    ...registerSemanticTokens({ language }, workflows),
  ];
}

/** Definitions and references of steps. */
function registerStepReferences({ language }: Pick<Core, "language">, workflows: WorkflowDocuments): vscode.Disposable[] {
  const { languages } = vscode;
  return [
    languages.registerDefinitionProvider(MARKDOWN, {
      provideDefinition(document, position) {
        const workflow = workflows.of(document);
        const step = workflow && language.step(workflow.path, workflow.text, document.offsetAt(position));
        return step && workflow.location(step.title);
      },
    }),
    languages.registerReferenceProvider(MARKDOWN, {
      provideReferences(document, position, { includeDeclaration }) {
        const workflow = workflows.of(document);
        const step = workflow && language.step(workflow.path, workflow.text, document.offsetAt(position));
        if (step === undefined) return [];
        const places = includeDeclaration ? [step.number, ...step.mentions] : step.mentions;
        return places.map((place) => workflow!.location(place));
      },
    }),
  ];
}

function registerSemanticTokens({ language }: Pick<Core, "language">, workflows: WorkflowDocuments): vscode.Disposable[] {
  const { languages } = vscode;
  // The grammar colors commands as shell. A separate token type keeps those colors.
  const legend = new vscode.SemanticTokensLegend(language.tokenKinds().map((kind) => (kind === "string" ? "command" : kind)));
  const tokens = (document: vscode.TextDocument, range?: vscode.Range): vscode.SemanticTokens | undefined => {
    const workflow = workflows.of(document);
    if (workflow === undefined) return undefined;
    const places = range === undefined ? [] : [document.offsetAt(range.start), document.offsetAt(range.end)];
    const [start, end] = places;
    return new vscode.SemanticTokens(language.tokens(workflow.path, workflow.text, start, end));
  };
  return [
    languages.registerDocumentSemanticTokensProvider(MARKDOWN, { provideDocumentSemanticTokens: (document) => tokens(document) }, legend),
    languages.registerDocumentRangeSemanticTokensProvider(MARKDOWN, { provideDocumentRangeSemanticTokens: tokens }, legend),
  ];
}

function symbol(workflow: WorkflowDocument, part: SymbolPart): vscode.DocumentSymbol {
  const [range, selection] = [workflow.range(part.span), workflow.range(part.selection)];
  const shown = new vscode.DocumentSymbol(part.name, part.detail, SYMBOLS[part.kind], range, selection);
  shown.children = part.children.map((child) => symbol(workflow, child));
  return shown;
}

/** The folder that paths in a workflow are relative to, as in the language server. */
function root(uri: vscode.Uri): vscode.Uri {
  const open = vscode.workspace.getWorkspaceFolder(uri);
  if (open !== undefined) return open.uri;
  const folder = vscode.Uri.joinPath(uri, "..");
  return folder.with({ path: folder.path.replace(PLANS, "") || "/" });
}
