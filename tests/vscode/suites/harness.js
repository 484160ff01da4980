// What suites are made of. They run where the extension runs, with the real interface of VS Code.

import * as vscode from "vscode";

const PATIENCE_MS = 20_000;
const tests = [];

export const test = (name, body) => tests.push({ name, body });

export const folder = () => vscode.workspace.workspaceFolders[0].uri;

export const equal = (actual, expected, what = "value") => {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (found !== wanted) throw new Error(`${what}: expected ${wanted}, found ${found}`);
};

/** The first answer of `ask` that is not undefined, asked again at every event of `event`. */
export const until = (event, ask, what) =>
  new Promise((resolve, reject) => {
    const look = async () => {
      const answer = await ask();
      if (answer === undefined) return;
      subscription.dispose();
      clearTimeout(timer);
      resolve(answer);
    };
    const subscription = event(() => look().catch(reject));
    const timer = setTimeout(() => {
      subscription.dispose();
      reject(new Error(`${what}: nothing within ${PATIENCE_MS / 1000} s`));
    }, PATIENCE_MS);
    look().catch(reject);
  });

/** Runs every test in order and leaves the result for whoever opened the window. */
export const activate = async () => {
  const result = { passed: [], failed: [] };
  for (const { name, body } of tests) {
    try {
      await body();
      result.passed.push(name);
    } catch (error) {
      result.failed.push([name, String(error?.stack ?? error)]);
    }
  }
  const at = (name) => vscode.Uri.joinPath(folder(), name);
  await vscode.workspace.fs.writeFile(at("result.part"), new TextEncoder().encode(JSON.stringify(result)));
  await vscode.workspace.fs.rename(at("result.part"), at("result.json"));
};
