// What the extension does in every host: it reads workflows and writes nothing unasked.

import * as vscode from "vscode";
import { at, equal, findings, ok, open, test } from "./harness.js";

const FILE = "hotl-workflow-greet.md";

async function actions(document, range, kind) {
  return vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, range, kind);
}

/** The labels that are offered for what is behind `text`. */
async function offered(document, text) {
  const position = document.positionAt(document.getText().indexOf(text) + text.length);
  const list = await vscode.commands.executeCommand("vscode.executeCompletionItemProvider", document.uri, position);
  return list.items.filter(({ documentation }) => documentation !== undefined).map(({ label }) => label);
}

test("a finding is shown where it is, counted as the editor counts", async () => {
  const document = await open(FILE);
  const [found] = await findings(document, "missing-loop");
  equal(document.getText(found.range), "Greet 😀");
  equal(found.severity, vscode.DiagnosticSeverity.Error);
});

test("a document about workflows is left alone", async () => {
  const document = await open("README.md");
  equal(vscode.languages.getDiagnostics(document.uri), []);
});

test("a quick fix mends its finding", async () => {
  const document = await open(FILE);
  const [found] = await findings(document, "missing-loop");
  // The editor's own extensions offer other things for the same words.
  const fixes = await actions(document, found.range, "quickfix");
  const action = fixes.find(({ title }) => title === "Add `loop: false`");
  ok(action !== undefined, fixes.map(({ title }) => title).join());
  ok(await vscode.workspace.applyEdit(action.edit), "the edit was refused");
  await findings(document, "");
  ok(document.getText().includes("\nloop: false\n"), document.getText());
});

test("findings follow what is typed", async () => {
  const document = await open(FILE);
  const edit = new vscode.WorkspaceEdit();
  const text = document.getText();
  const replace = (from, to) => {
    const start = text.indexOf(from);
    const range = new vscode.Range(document.positionAt(start), document.positionAt(start + from.length));
    edit.replace(document.uri, range, to);
  };
  replace("risk_level: low", "risk_level: lo");
  replace("loop: false", "loop: true");
  await vscode.workspace.applyEdit(edit);
  await findings(document, "invalid-key-value invalid-loop");
});

test("everything that can be mended is mended at once", async () => {
  const document = await open(FILE);
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const [action] = await actions(document, whole, "source.fixAll.onloop");
  ok(await vscode.workspace.applyEdit(action.edit), "the edit was refused");
  await findings(document, "invalid-key-value");
});

test("keys, values and fields are offered and explained", async () => {
  const document = await open(FILE);
  equal(await offered(document, "risk_level: "), ["low", "medium", "high"]);
  const fields = await offered(document, "loop: until the checks pass\n");
  ok(fields.includes("gate") && !fields.includes("action"), fields.join(" "));
  const position = document.positionAt(document.getText().indexOf("risk_level") + 2);
  const [hover] = await vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, position);
  ok(hover.contents[0].value.includes("`low`, `medium` or `high`"), hover.contents[0].value);
});

test("steps are in the outline", async () => {
  const document = await open(FILE);
  const symbols = await vscode.commands.executeCommand("vscode.executeDocumentSymbolProvider", document.uri);
  ok(symbols.some(({ name }) => name === "Step 1: Greet 😀"), symbols.map(({ name }) => name).join());
});

test("a file that is on no disk is read, too", async () => {
  const content = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n- [ ] **Step 1: A**\naction: do\n";
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
  await findings(document, "missing-loop");
});

test("a file in a virtual folder is read, and nothing of it is run", async () => {
  const bytes = new TextEncoder().encode("---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n");
  const event = new vscode.EventEmitter().event;
  const stat = () => ({ type: vscode.FileType.File, ctime: 0, mtime: 0, size: bytes.length });
  const watch = () => ({ dispose() {} });
  const refuse = () => {
    throw vscode.FileSystemError.NoPermissions();
  };
  const changes = { createDirectory: refuse, delete: refuse, rename: refuse, writeFile: refuse };
  const provider = { onDidChangeFile: event, watch, stat, readFile: () => bytes, readDirectory: () => [], ...changes };
  vscode.workspace.registerFileSystemProvider("virtual", provider, { isReadonly: true });
  const uri = vscode.Uri.parse("virtual:/hotl-workflow-a.md");
  await findings(await vscode.workspace.openTextDocument(uri), "no-steps");
  equal(await vscode.commands.executeCommand("vscode.executeCodeLensProvider", uri), []);
});

test("nothing was written", async () => {
  const [text] = [await vscode.workspace.fs.readFile(at(FILE))];
  ok(!new TextDecoder().decode(text).includes("loop:"), "the file on the disk has changed");
});
