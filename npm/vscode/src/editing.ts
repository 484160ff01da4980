/** Writing in a workflow: completion, renaming and moving of steps, layout. */

import type { Core, Proposal } from "onloop";
import * as vscode from "vscode";
import type { Reading, Readings } from "./reading.js";
import { MARKDOWN, NAMED } from "./workflow_files.js";

const KINDS: Readonly<Record<Proposal["kind"], vscode.CompletionItemKind>> = {
  field: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.Value,
  template: vscode.CompletionItemKind.Snippet,
};

export function registerChanging({ language }: Core, readings: Readings): vscode.Disposable[] {
  const { languages } = vscode;
  const completion: vscode.CompletionItemProvider = {
    provideCompletionItems(document, position) {
      const reading = readings.of(document);
      if (reading === undefined) return [];
      return language.proposals(reading.path, reading.text, document.offsetAt(position)).map((proposal, at) => item(reading, proposal, at));
    },
  };
  const rename: vscode.RenameProvider = {
    prepareRename(document, position) {
      const reading = readings.of(document);
      const step = reading && language.step(reading.path, reading.text, document.offsetAt(position));
      // The editor's own Markdown is asked next: it renames headings and links.
      if (reading === undefined || step === undefined) return undefined;
      const range = reading.range(step.here);
      return { range, placeholder: document.getText(range) };
    },
    provideRenameEdits(document, position, name) {
      const reading = readings.of(document);
      if (reading === undefined) return undefined;
      const offset = document.offsetAt(position);
      if (language.step(reading.path, reading.text, offset) === undefined) return undefined;
      return reading.workspaceEdit(language.rename(reading.path, reading.text, offset, name));
    },
  };
  const layout = (document: vscode.TextDocument): vscode.TextEdit[] => {
    const reading = readings.of(document);
    return reading === undefined ? [] : reading.edits(language.layout(reading.path, reading.text));
  };
  return [
    // Letters open it as well, see `suggest.ts`.
    languages.registerCompletionItemProvider(MARKDOWN, completion, ..." :-["),
    languages.registerRenameProvider(MARKDOWN, rename),
    languages.registerDocumentFormattingEditProvider(NAMED, { provideDocumentFormattingEdits: layout }),
    languages.registerDocumentRangeFormattingEditProvider(NAMED, {
      provideDocumentRangeFormattingEdits: (document, range) => layout(document).filter((edit) => range.contains(edit.range)),
    }),
  ];
}

function item(reading: Reading, proposal: Proposal, at: number): vscode.CompletionItem {
  const item = new vscode.CompletionItem(proposal.label, KINDS[proposal.kind]);
  item.insertText = new vscode.SnippetString(proposal.snippet);
  item.documentation = new vscode.MarkdownString(proposal.about);
  item.range = reading.range(proposal.span);
  item.sortText = String(at).padStart(3, "0");
  // What has been typed of a step is `- [`, and nothing of its label.
  if (proposal.kind === "template") item.filterText = proposal.plain.split("\n", 1)[0] ?? "";
  if (proposal.goes_on) item.command = { command: "editor.action.triggerSuggest", title: "Choose a value" };
  return item;
}
