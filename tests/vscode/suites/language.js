// The language features in every host.

import * as vscode from "vscode";
import { at, equal, findings, ok, open, refusal, test, until } from "./harness.js";

const FILE = "hotl-workflow-greet.md";

/**
 * The result of a provider, which must not be empty. The editor returns nothing when another
 * extension registers a provider meanwhile, so this asks again.
 */
function actions(document, range, kind) {
  const ask = () => vscode.commands.executeCommand("vscode.executeCodeActionProvider", document.uri, range, kind);
  const often = (heard) => {
    const timer = setInterval(heard, 500);
    return { dispose: () => clearInterval(timer) };
  };
  const some = async () => ask().then((offered) => (offered.length > 0 ? offered : undefined));
  return until(often, some, `actions \`${kind}\``);
}

/** The labels of the proposals behind `text`. */
async function offered(document, text) {
  const position = document.positionAt(document.getText().indexOf(text) + text.length);
  const list = await vscode.commands.executeCommand("vscode.executeCompletionItemProvider", document.uri, position);
  return list.items.filter(({ documentation }) => documentation !== undefined).map(({ label }) => label);
}

async function replace(document, from, to) {
  const start = document.getText().indexOf(from);
  const range = new vscode.Range(document.positionAt(start), document.positionAt(start + from.length));
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, range, to);
  ok(await vscode.workspace.applyEdit(edit), "the edit was refused");
}

test("a finding is shown at its place in the editor", async () => {
  const document = await open(FILE);
  const [found] = await findings(document, "missing-loop");
  equal(document.getText(found.range), "Greet 😀");
  equal(found.severity, vscode.DiagnosticSeverity.Error);
});

test("a document about workflows has no findings", async () => {
  const document = await open("README.md");
  equal(vscode.languages.getDiagnostics(document.uri), []);
});

test("a quick fix resolves its finding", async () => {
  const document = await open(FILE);
  const [found] = await findings(document, "missing-loop");
  // Built-in extensions offer other actions for the same text.
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

test("fix all resolves every fixable finding", async () => {
  const document = await open(FILE);
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const [action] = await actions(document, whole, "source.fixAll.onloop");
  ok(await vscode.workspace.applyEdit(action.edit), "the edit was refused");
  await findings(document, "invalid-key-value");
});

test("keys, values and fields have proposals and hovers", async () => {
  const document = await open(FILE);
  equal(await offered(document, "risk_level: "), ["low", "medium", "high"]);
  const fields = await offered(document, "action: Write greeting.txt.\n");
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

test("a finding that only its author can resolve has choices", async () => {
  const document = await open(FILE);
  const [found] = await findings(document, "invalid-key-value");
  const choices = (await actions(document, found.range, "quickfix")).filter(({ title }) => title.startsWith("Write `"));
  equal(choices.map(({ title }) => title), ["Write `low`", "Write `medium`", "Write `high`"]);
  equal(choices.map(({ isPreferred }) => isPreferred === true), [false, false, false]);
  ok(await vscode.workspace.applyEdit(choices[0].edit), "the edit was refused");
  await findings(document, "");
});

test("completion opens while a person types, and again for the values of a field", async () => {
  const document = await open(FILE);
  const editor = vscode.window.activeTextEditor;
  const line = document.positionAt(document.getText().indexOf("verify:")).line;
  await editor.edit((change) => change.insert(new vscode.Position(line, 0), "\n"));
  editor.selection = new vscode.Selection(line, 0, line, 0);
  // The page types when it sees this, and accepts two proposals.
  const sign = vscode.window.setStatusBarMessage("type a letter");
  const typed = () => (document.getText().includes("\ngate: human\n") ? true : undefined);
  await until(vscode.workspace.onDidChangeTextDocument, async () => typed(), "`gate: human`");
  sign.dispose();
});

const TWO = `---
intent: a
success_criteria: b
risk_level: low
---

- [ ] **Step 1: One**
action: before step 2
loop: false

- [ ] **Step 2: Two**
Action:   after step 1
loop: false
`;

test("steps can be renamed, moved and found from their mentions", async () => {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: TWO });
  const place = (text) => document.positionAt(TWO.indexOf(text));
  const rename = async (text, name) => {
    const { uri } = document;
    const change = await vscode.commands.executeCommand("vscode.executeDocumentRenameProvider", uri, place(text), name);
    return change.get(uri).map(({ newText }) => newText);
  };
  equal(await rename("Two", "Deux"), ["Deux"]);
  const [moved] = await rename("2: Two", "1");
  ok(moved.startsWith("- [ ] **Step 1: Two**\nAction:   after step 2\n"), moved);
  const refused = await refusal(rename("2: Two", "9"));
  ok(refused.message.includes("the number of a step is from 1 to 2 here"), refused.message);
  const at = place("2\nloop");
  const [found] = await vscode.commands.executeCommand("vscode.executeDefinitionProvider", document.uri, at);
  equal(document.getText(found.range), "Two");
  const places = await vscode.commands.executeCommand("vscode.executeReferenceProvider", document.uri, at);
  equal(places.map(({ range }) => range.start.line), [7, 10]);
  const offered = await actions(document, new vscode.Range(place("- [ ] **Step 2"), place("- [ ] **Step 2")), "refactor.rewrite");
  const titles = ["Insert a step before step 2", "Insert a step after step 2", "Move step 2 up"];
  equal(offered.map(({ title }) => title).filter((title) => titles.includes(title)), titles);
});

test("steps can be folded, and have semantic tokens", async () => {
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content: TWO });
  const folds = await vscode.commands.executeCommand("vscode.executeFoldingRangeProvider", document.uri);
  const lines = folds.map(({ start, end }) => `${start}-${end}`);
  ok(lines.includes("6-8") && lines.includes("10-12"), lines.join(" "));
  const { executeCommand } = vscode.commands;
  const { tokenTypes } = await executeCommand("vscode.provideDocumentSemanticTokensLegend", document.uri);
  const { data } = await executeCommand("vscode.provideDocumentSemanticTokens", document.uri);
  equal([...data.slice(0, 3), tokenTypes[data[3]]], [1, 0, 6, "property"]);
});

test("workflows are formatted, and other Markdown is not", async () => {
  const options = { tabSize: 2, insertSpaces: true };
  const format = (uri) => vscode.commands.executeCommand("vscode.executeFormatDocumentProvider", uri, options);
  const document = await open(FILE);
  await replace(document, "action: Write", "  Action:   Write");
  const change = new vscode.WorkspaceEdit();
  change.set(document.uri, await format(document.uri));
  ok(await vscode.workspace.applyEdit(change), "the edit was refused");
  ok(document.getText().includes("---\n\n- [ ] **Step 1: Greet 😀**\naction: Write greeting.txt.\n"), document.getText());
  equal((await format(document.uri)) ?? [], []);
  const readme = await open("README.md");
  equal((await format(readme.uri)) ?? [], []);
});

test("an untitled file has language features", async () => {
  const content = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n- [ ] **Step 1: A**\naction: do\n";
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
  await findings(document, "missing-loop");
});

test("a file in a virtual folder has language features and cannot run", async () => {
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

test("no file was written", async () => {
  const [text] = [await vscode.workspace.fs.readFile(at(FILE))];
  ok(!new TextDecoder().decode(text).includes("loop:"), "the file on the disk has changed");
});
