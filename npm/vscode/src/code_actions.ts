/** Changes that are offered: quick fixes, everything at once, steps in another order. */

import type { Core, Edit } from "onloop";
import * as vscode from "vscode";
import { diagnostic } from "./finding.js";
import type { Reading, Readings } from "./reading.js";
import { MARKDOWN } from "./workflow_files.js";

const { QuickFix, RefactorRewrite, SourceFixAll } = vscode.CodeActionKind;
const FIX_ALL = SourceFixAll.append("onloop");

export function registerActions(core: Core, readings: Readings): vscode.Disposable[] {
  const provider: vscode.CodeActionProvider = {
    provideCodeActions(document, range, { only }) {
      const reading = readings.of(document);
      if (reading === undefined) return [];
      // What fixes everything is only offered to who asks for it.
      if (only !== undefined && FIX_ALL.intersects(only)) return fixAll(core, reading);
      const wants = (kind: vscode.CodeActionKind): boolean => only === undefined || only.contains(kind);
      return [
        ...(wants(QuickFix) ? quickFixes(core, reading, range) : []),
        ...(wants(RefactorRewrite) ? rewrites(core, reading, range) : []),
      ];
    },
  };
  const providedCodeActionKinds = [QuickFix, RefactorRewrite, FIX_ALL];
  return [vscode.languages.registerCodeActionsProvider(MARKDOWN, provider, { providedCodeActionKinds })];
}

function action(reading: Reading, title: string, kind: vscode.CodeActionKind, edits: readonly Edit[]): vscode.CodeAction {
  const made = new vscode.CodeAction(title, kind);
  made.edit = reading.workspaceEdit(edits);
  return made;
}

function quickFixes(core: Core, reading: Reading, range: vscode.Range): vscode.CodeAction[] {
  const [start, end] = [range.start, range.end].map((at) => reading.document.offsetAt(at)) as [number, number];
  return core.language.mends(reading.path, reading.text, start, end).map(({ title, edits, finding, is_safe: isSafe }) => {
    const made = action(reading, sentence(title), QuickFix, edits);
    const found = reading.findings[finding];
    if (found !== undefined) made.diagnostics = [diagnostic(reading, found)];
    made.isPreferred = isSafe;
    return made;
  });
}

function rewrites(core: Core, reading: Reading, range: vscode.Range): vscode.CodeAction[] {
  const offset = reading.document.offsetAt(range.start);
  const found = core.language.rewrites(reading.path, reading.text, offset);
  return found.map(({ title, edits }) => action(reading, title, RefactorRewrite, edits));
}

function fixAll(core: Core, reading: Reading): vscode.CodeAction[] {
  if (!reading.findings.some(({ fix }) => fix !== null)) return [];
  const { text } = core.fix(reading.path, reading.text);
  const edit = { start: 0, end: reading.text.length, text };
  return [action(reading, "Fix everything that can be fixed", FIX_ALL, [edit])];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
