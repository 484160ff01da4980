/**
 * Opens completion while a person types. Quick suggestions are off for Markdown, their setting covers all
 * Markdown files, and letters as trigger characters have no effect within words.
 */

import type { Core } from "onloop";
import * as vscode from "vscode";
import type { WorkflowDocuments } from "./workflow_document.js";

/** Opens the list at the first letter of a word for which the core has proposals. */
export function registerSuggest({ language }: Core, workflows: WorkflowDocuments): vscode.Disposable {
  return vscode.workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) => {
    const [change, ...others] = contentChanges;
    if (change === undefined || others.length > 0 || reason !== undefined) return;
    if (vscode.window.activeTextEditor?.document !== document) return;
    if (!isFirstLetter(document, change)) return;
    const workflow = workflows.of(document);
    if (workflow === undefined) return;
    const settings = vscode.workspace.getConfiguration("editor", document);
    if (settings.get("suggestOnTriggerCharacters") === false) return;
    const proposals = language.proposals(workflow.path, workflow.text, change.rangeOffset + 1);
    if (!proposals.some(({ span }) => span.start <= change.rangeOffset)) return;
    void vscode.commands.executeCommand("editor.action.triggerSuggest");
  });
}

function isFirstLetter(document: vscode.TextDocument, change: vscode.TextDocumentContentChangeEvent): boolean {
  const { text, range, rangeLength } = change;
  if (rangeLength > 0 || !/^[a-zA-Z]$/.test(text)) return false;
  const before = document.lineAt(range.start.line).text.slice(0, range.start.character);
  return /(?:^|[\s:])$/.test(before);
}
