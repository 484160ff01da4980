/** Adapts the page of `onloop report --html` to the editor. */

/** Uses the colors of the editor, because the page follows the system otherwise. */
const COLORS = `
:root {
  --ground: var(--vscode-editor-background); --text: var(--vscode-editor-foreground);
  --faint: var(--vscode-descriptionForeground); --line: var(--vscode-panel-border, #8884);
  --card: var(--vscode-textCodeBlock-background, var(--vscode-sideBar-background));
  --good: var(--vscode-testing-iconPassed, #3a9a4c); --bad: var(--vscode-errorForeground);
  --wait: var(--vscode-list-warningForeground, #b8860b); --act: var(--vscode-textLink-foreground);
  --check: var(--vscode-charts-purple, #8a63d2);
  --add: var(--vscode-diffEditor-insertedTextBackground); --del: var(--vscode-diffEditor-removedTextBackground);
}
body { font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); }
code, pre { font-family: var(--vscode-editor-font-family); }
`;

/** The page of a run. The report has no script; the one added here saves the run id. */
export function page(id: string, html: string): string {
  const nonce = newNonce();
  return html
    .replace(/default-src 'none';/, `default-src 'none'; script-src 'nonce-${nonce}';`)
    .replace("</head>", () => `<style>${COLORS}</style>\n${stateScript(id, nonce)}</head>`);
}

/** The page without a report, which says why. */
export function errorPage(id: string, why: string): string {
  const nonce = newNonce();
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  return `<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>body { font: var(--vscode-font-size) var(--vscode-font-family); padding: 1rem; }</style>
${stateScript(id, nonce)}</head><body><p>${escaped(why.trim())}</p></body></html>`;
}

function stateScript(id: string, nonce: string): string {
  // Run ids have only these characters.
  const state = JSON.stringify({ id: id.replace(/[^\w.-]/g, "") });
  return `<script nonce="${nonce}">acquireVsCodeApi().setState(${state})</script>\n`;
}

function newNonce(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64url");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
