/** Converts findings to diagnostics of the editor. */

import type { Finding } from "onloop";
import * as vscode from "vscode";
import type { WorkflowDocument } from "./workflow_document.js";

const FINDINGS = "https://github.com/onloop/onloop/blob/main/docs/workflow-format.md#findings";

export function diagnostic(workflow: WorkflowDocument, found: Finding): vscode.Diagnostic {
  const severity = found.severity === "error" ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const text = found.help === null ? found.message : `${found.message}\n${found.help}`;
  const shown = new vscode.Diagnostic(workflow.range(found), text, severity);
  shown.source = "onloop";
  shown.code = { value: found.code, target: vscode.Uri.parse(FINDINGS) };
  if (found.unnecessary) shown.tags = [vscode.DiagnosticTag.Unnecessary];
  shown.relatedInformation = found.related.map(
    (place) => new vscode.DiagnosticRelatedInformation(workflow.location(place), place.message),
  );
  return shown;
}
