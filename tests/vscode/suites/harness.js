// The harness of suites, which run in the extension host with the real API of VS Code.

import * as vscode from "vscode";

/** Long enough for a busy machine. */
const PATIENCE_MS = 60_000;
const tests = [];

export const test = (name, body) => tests.push({ name, body });

export const folder = () => vscode.workspace.workspaceFolders[0].uri;

export const at = (name) => vscode.Uri.joinPath(folder(), name);

export const read = async (uri) => new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));

export const ok = (fact, what) => {
  if (!fact) throw new Error(what);
};

export const equal = (actual, expected, what = "value") => {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${what}: expected ${wanted}, found ${found}`);
};

/** The error that `promise` ends with. */
export const refusal = (promise) =>
  promise.then(
    (value) => {
      throw new Error(`it was not refused, but came to ${JSON.stringify(value)}`);
    },
    (error) => error,
  );

/** The first answer of `ask` that is not undefined, asked again at every event of `event`. */
export const until = (event, ask, what) =>
  new Promise((resolve, reject) => {
    const stop = (settle, value) => {
      subscription.dispose();
      clearTimeout(timer);
      settle(value);
    };
    const look = async () => {
      const answer = await ask();
      if (answer !== undefined) stop(resolve, answer);
    };
    const subscription = event(() => look().catch((error) => stop(reject, error)));
    const late = () => stop(reject, new Error(`${what}: nothing within ${PATIENCE_MS / 1000} s`));
    const timer = setTimeout(late, PATIENCE_MS);
    look().catch((error) => stop(reject, error));
  });

export const open = async (name) => {
  const document = await vscode.workspace.openTextDocument(at(name));
  await vscode.window.showTextDocument(document);
  return document;
};

/** Our findings in a document, once they are the expected ones. */
export const findings = (document, wanted) =>
  until(
    vscode.languages.onDidChangeDiagnostics,
    async () => {
      const all = vscode.languages.getDiagnostics(document.uri);
      const codes = all.filter(({ source }) => source === "onloop").map(({ code }) => code.value);
      return codes.join(" ") === wanted ? all : undefined;
    },
    `findings \`${wanted}\``,
  );

export const extension = () => vscode.extensions.getExtension("onloop.onloop");

/**
 * Runs the tests in order up to the first failure, and writes the result for the process that opened the
 * window. Later tests continue from the state of earlier ones.
 */
export const activate = async () => {
  const result = { passed: [], failed: [] };
  for (const { name, body } of tests) {
    try {
      await body();
      result.passed.push(name);
    } catch (error) {
      result.failed.push([name, String(error?.stack ?? error)]);
      break;
    }
  }
  await vscode.workspace.fs.writeFile(at("result.part"), new TextEncoder().encode(JSON.stringify(result)));
  await vscode.workspace.fs.rename(at("result.part"), at("result.json"));
};
