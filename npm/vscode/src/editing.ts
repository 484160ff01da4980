/** Completion, rename and formatting. */

import type { Core, Proposal } from "onloop";
import * as vscode from "vscode";
import type { WorkflowDocument, WorkflowDocuments } from "./workflow_document.js";
import { MARKDOWN, NAMED } from "./workflow_files.js";

const KINDS: Readonly<Record<Proposal["kind"], vscode.CompletionItemKind>> = {
  field: vscode.CompletionItemKind.Property,
  value: vscode.CompletionItemKind.Value,
  template: vscode.CompletionItemKind.Snippet,
};

export function registerEditing({ language }: Core, workflows: WorkflowDocuments): vscode.Disposable[] {
  const { languages } = vscode;
  const completion: vscode.CompletionItemProvider = {
    provideCompletionItems(document, position) {
      const workflow = workflows.of(document);
      if (workflow === undefined) return [];
      return language.proposals(workflow.path, workflow.text, document.offsetAt(position)).map((proposal, at) => item(workflow, proposal, at));
    },
  };
  const rename: vscode.RenameProvider = {
    prepareRename(document, position) {
      const workflow = workflows.of(document);
      const step = workflow && language.step(workflow.path, workflow.text, document.offsetAt(position));
      // VS Code asks its Markdown support next, which renames headings and links.
      if (workflow === undefined || step === undefined) return undefined;
      const range = workflow.range(step.here);
      return { range, placeholder: document.getText(range) };
    },
    provideRenameEdits(document, position, name) {
      const workflow = workflows.of(document);
      if (workflow === undefined) return undefined;
      const offset = document.offsetAt(position);
      if (language.step(workflow.path, workflow.text, offset) === undefined) return undefined;
      return workflow.workspaceEdit(language.rename(workflow.path, workflow.text, offset, name));
    },
  };
  const layout = (document: vscode.TextDocument): vscode.TextEdit[] => {
    const workflow = workflows.of(document);
    return workflow === undefined ? [] : workflow.edits(language.layout(workflow.path, workflow.text));
  };
  return [
    // `suggest.ts` opens it at letters.
    languages.registerCompletionItemProvider(MARKDOWN, completion, ..." :-["),
    languages.registerRenameProvider(MARKDOWN, rename),
    languages.registerDocumentFormattingEditProvider(NAMED, { provideDocumentFormattingEdits: layout }),
    languages.registerDocumentRangeFormattingEditProvider(NAMED, {
      provideDocumentRangeFormattingEdits: (document, range) => layout(document).filter((edit) => range.contains(edit.range)),
    }),
  ];
}

function item(workflow: WorkflowDocument, proposal: Proposal, at: number): vscode.CompletionItem {
  const item = new vscode.CompletionItem(proposal.label, KINDS[proposal.kind]);
  item.insertText = new vscode.SnippetString(proposal.snippet);
  item.documentation = new vscode.MarkdownString(proposal.about);
  item.range = workflow.range(proposal.span);
  item.sortText = String(at).padStart(3, "0");
  // The text before the cursor is `- [`, which the label does not contain.
  if (proposal.kind === "template") item.filterText = proposal.plain.split("\n", 1)[0] ?? "";
  if (proposal.goes_on) item.command = { command: "editor.action.triggerSuggest", title: "Choose a value" };
  return item;
}
