/** A finding as the editor shows it. */

import type { Finding } from "onloop";
import * as vscode from "vscode";
import type { Reading } from "./reading.js";

const FINDINGS = "https://github.com/onloop/onloop/blob/main/docs/workflow-format.md#findings";

export function diagnostic(reading: Reading, found: Finding): vscode.Diagnostic {
  const severity = found.severity === "error" ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const text = found.help === null ? found.message : `${found.message}\n${found.help}`;
  const shown = new vscode.Diagnostic(reading.range(found), text, severity);
  shown.source = "onloop";
  shown.code = { value: found.code, target: vscode.Uri.parse(FINDINGS) };
  if (found.unnecessary) shown.tags = [vscode.DiagnosticTag.Unnecessary];
  shown.relatedInformation = found.related.map(
    (place) => new vscode.DiagnosticRelatedInformation(reading.location(place), place.message),
  );
  return shown;
}
