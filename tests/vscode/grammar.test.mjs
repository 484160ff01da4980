// The colours of workflows, by the grammars and the engine of the VS Code that the suites run in.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { VERSION } from "./version.mjs";

const code = join(process.env.ONLOOP_TEST_VSCODE, `code-server-${VERSION}`, "lib", "vscode");
const require = createRequire(join(code, "package.json"));
const onig = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");
const here = fileURLToPath(new URL(".", import.meta.url));
const OURS = join(here, "../../npm/vscode/syntaxes/onloop.injection.json");

await onig.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")).buffer);
const FILES = {
  "text.html.markdown": join(code, "extensions/markdown-basics/syntaxes/markdown.tmLanguage.json"),
  "source.shell": join(code, "extensions/shellscript/syntaxes/shell-unix-bash.tmLanguage.json"),
  "source.yaml": join(code, "extensions/yaml/syntaxes/yaml.tmLanguage.json"),
  "onloop.injection": OURS,
};
const registry = new Registry({
  onigLib: Promise.resolve({ createOnigScanner: (patterns) => new onig.OnigScanner(patterns), createOnigString: (text) => new onig.OnigString(text) }),
  loadGrammar: async (scope) => (scope in FILES ? parseRawGrammar(readFileSync(FILES[scope], "utf8"), FILES[scope]) : null),
  getInjections: (scope) => (scope === "text.html.markdown" ? ["onloop.injection"] : undefined),
});
const grammar = await registry.loadGrammar("text.html.markdown");

/** Every token with its scopes, the outermost first. */
function pieces(text) {
  let state = INITIAL;
  return text.split("\n").flatMap((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens.map(({ startIndex, endIndex, scopes }) => ({ line, text: line.slice(startIndex, endIndex), scopes: scopes.join(" ") }));
  });
}

const WORKFLOW = readFileSync(join(here, "workspaces/steered/.ai/workflows/colours.md"), "utf8");
const all = pieces(WORKFLOW);
/** The scopes of the first piece that is `text` in a line with `inLine`. */
const scopesOf = (text, inLine = text) => {
  const found = all.find((piece) => piece.line.includes(inLine) && piece.text.trim() === text);
  assert.ok(found, `no piece \`${text}\` in \`${inLine}\`: ${all.filter(({ line }) => line.includes(inLine)).map(({ text }) => text).join("|")}`);
  return found.scopes;
};

test("headers, fields, conditions, commands and scripts have different scopes", () => {
  const table = [
    ["Step", "**Step 1: Describe", /keyword\.control\.step\.onloop$/],
    ["1", "**Step 1: Describe", /constant\.numeric\.step\.onloop$/],
    ["Describe the limit in tests", "**Step 1", /entity\.name\.function\.step\.onloop$/],
    ["action", "action: Add tests", /entity\.name\.tag\.field\.onloop$/],
    ["fail", "They **fail**", /markup\.bold\.markdown$/],
    ["until", "loop: until", /keyword\.control\.loop\.onloop$/],
    ["the tests fail for the right reason", "loop: until", /string\.unquoted\.condition\.onloop$/],
    ["5", "max_iterations", /constant\.numeric\.onloop$/],
    ["shell", "type: shell", /constant\.language\.check\.onloop$/],
    ["command", "command: cargo", /entity\.name\.tag\.field\.onloop$/],
    ["|", "command: cargo", /meta\.embedded\.shell\.onloop .*source|meta\.embedded\.shell\.onloop .*shell/],
    ["1m30s", "timeout", /constant\.numeric\.onloop$/],
    ["CI", "CI: true", /variable\.other\.environment\.onloop$/],
    ["for", "for name in", /meta\.embedded\.shell\.onloop .*keyword\.control\S*\.shell/],
    ["false", "loop: false", /constant\.language\.loop\.onloop$/],
    ["&&", "! grep -rn", /meta\.embedded\.shell\.onloop .*shell/],
    ["human-review", "type: human-review", /constant\.language\.check\.onloop$/],
    ["kind", "kind: exists", /entity\.name\.tag\.field\.onloop$/],
    ["human", "gate: human", /constant\.language\.gate\.onloop$/],
  ];
  for (const [text, inLine, scopes] of table) assert.match(scopesOf(text, inLine), scopes, `${text} in ${inLine}`);
});

test("the scopes of a block end with it", () => {
  assert.match(scopesOf("loop", "loop: false"), /entity\.name\.tag\.field\.onloop$/);
  assert.match(scopesOf("Step", "**Step 3: Approve"), /^text\.html\.markdown meta\.step\.onloop keyword/);
});

test("text outside of steps is Markdown", () => {
  const last = all.filter(({ line }) => line.startsWith("Not a step"));
  assert.ok(last.every(({ scopes }) => !scopes.includes("onloop")), last.map(({ scopes }) => scopes).join("\n"));
  assert.ok(all.filter(({ line }) => line.startsWith("intent:")).every(({ scopes }) => !scopes.includes("onloop")));
  const readme = pieces("# A\n\n- [ ] **Buy milk**\naction: none\n\n```sh\nloop: false\n```\n");
  assert.ok(readme.every(({ scopes }) => !scopes.includes("onloop")));
});

test("steps are not nested", () => {
  const many = `${"- [ ] **Step 1: A**\naction: do\nloop: false\nverify: true\n\n".repeat(400)}end`;
  const deepest = Math.max(...pieces(many).map(({ scopes }) => scopes.split(" ").length));
  assert.ok(deepest < 12, `${deepest} scopes`);
});

test("semantic tokens keep the colors of the grammar", () => {
  const { contributes } = JSON.parse(readFileSync(join(here, "../../npm/vscode/package.json"), "utf8"));
  const [{ language, scopes }] = contributes.semanticTokenScopes;
  assert.equal(language, "markdown");
  const known = JSON.parse(readFileSync(OURS, "utf8"));
  const names = JSON.stringify(known).match(/[\w.-]+\.onloop(?=["\s])/g);
  for (const [scope] of Object.values(scopes)) {
    const general = scope.replace(/\.onloop$/, "");
    assert.ok(names.some((name) => name.startsWith(`${general}.`)), scope);
  }
});
