/**
 * Completion that opens while somebody types. Markdown does not suggest by itself, letters that are declared
 * as triggers do nothing within words, and the setting that would change it is one for all Markdown files.
 */

import type { Core } from "onloop";
import * as vscode from "vscode";
import type { Readings } from "./reading.js";

/** Opens the list at the first letter of a word where the core has something to propose. */
export function registerSuggest({ language }: Core, readings: Readings): vscode.Disposable {
  return vscode.workspace.onDidChangeTextDocument(({ document, contentChanges, reason }) => {
    const [change, ...others] = contentChanges;
    if (change === undefined || others.length > 0 || reason !== undefined) return;
    if (vscode.window.activeTextEditor?.document !== document) return;
    if (!isFirstLetter(document, change)) return;
    const reading = readings.of(document);
    if (reading === undefined) return;
    const settings = vscode.workspace.getConfiguration("editor", document);
    if (settings.get("suggestOnTriggerCharacters") === false) return;
    const proposals = language.proposals(reading.path, reading.text, change.rangeOffset + 1);
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
