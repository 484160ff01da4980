/** Code actions: quick fixes, fix all, and refactorings of steps. */

import type { Core, Edit } from "onloop";
import * as vscode from "vscode";
import { diagnostic } from "./finding.js";
import type { WorkflowDocument, WorkflowDocuments } from "./workflow_document.js";
import { MARKDOWN } from "./workflow_files.js";

const { QuickFix, RefactorRewrite, SourceFixAll } = vscode.CodeActionKind;
const FIX_ALL = SourceFixAll.append("onloop");

export function registerActions(core: Core, workflows: WorkflowDocuments): vscode.Disposable[] {
  const provider: vscode.CodeActionProvider = {
    provideCodeActions(document, range, { only }) {
      const workflow = workflows.of(document);
      if (workflow === undefined) return [];
      // Fix-all is offered only on request.
      if (only !== undefined && FIX_ALL.intersects(only)) return fixAll(core, workflow);
      const wants = (kind: vscode.CodeActionKind): boolean => only === undefined || only.contains(kind);
      return [
        ...(wants(QuickFix) ? quickFixes(core, workflow, range) : []),
        ...(wants(RefactorRewrite) ? rewrites(core, workflow, range) : []),
      ];
    },
  };
  const providedCodeActionKinds = [QuickFix, RefactorRewrite, FIX_ALL];
  return [vscode.languages.registerCodeActionsProvider(MARKDOWN, provider, { providedCodeActionKinds })];
}

function action(workflow: WorkflowDocument, title: string, kind: vscode.CodeActionKind, edits: readonly Edit[]): vscode.CodeAction {
  const made = new vscode.CodeAction(title, kind);
  made.edit = workflow.workspaceEdit(edits);
  return made;
}

function quickFixes(core: Core, workflow: WorkflowDocument, range: vscode.Range): vscode.CodeAction[] {
  const [start, end] = [range.start, range.end].map((at) => workflow.document.offsetAt(at)) as [number, number];
  return core.language.quickFixes(workflow.path, workflow.text, start, end).map(({ title, edits, finding, is_safe: isSafe }) => {
    const made = action(workflow, sentence(title), QuickFix, edits);
    const found = workflow.findings[finding];
    if (found !== undefined) made.diagnostics = [diagnostic(workflow, found)];
    made.isPreferred = isSafe;
    return made;
  });
}

function rewrites(core: Core, workflow: WorkflowDocument, range: vscode.Range): vscode.CodeAction[] {
  const offset = workflow.document.offsetAt(range.start);
  const found = core.language.rewrites(workflow.path, workflow.text, offset);
  return found.map(({ title, edits }) => action(workflow, title, RefactorRewrite, edits));
}

function fixAll(core: Core, workflow: WorkflowDocument): vscode.CodeAction[] {
  if (!workflow.findings.some(({ fix }) => fix !== null)) return [];
  const { text } = core.fix(workflow.path, workflow.text);
  const edit = { start: 0, end: workflow.text.length, text };
  return [action(workflow, "Fix all fixable problems", FIX_ALL, [edit])];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
