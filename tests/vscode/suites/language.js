import * as vscode from "vscode";
import { equal, folder, test, until } from "./harness.js";

export { activate } from "./harness.js";

const open = async (name) => {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder(), name));
  await vscode.window.showTextDocument(document);
  return document;
};
const findings = (document, wanted) =>
  until(
    vscode.languages.onDidChangeDiagnostics,
    () => {
      const found = vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === "onloop");
      return wanted(found) ? found : undefined;
    },
    "diagnostics",
  );

test("a finding is shown where it is, counted as the editor counts", async () => {
  const document = await open("hotl-workflow-greet.md");
  const [found] = await findings(document, (found) => found.length === 1);
  equal(found.code.value, "missing-loop");
  equal(document.getText(found.range), "Greet 😀");
});
