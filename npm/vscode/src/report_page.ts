/** The page that `onloop report --html` makes, as it fits into an editor. */

/** Colours of the editor for those of the page, which follow the system otherwise. */
const COLOURS = `
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

/** The page of a run. Of its own it has no script; the only one there is remembers the run. */
export function page(id: string, html: string): string {
  const nonce = unpredictable();
  return html
    .replace(/default-src 'none';/, `default-src 'none'; script-src 'nonce-${nonce}';`)
    .replace("</head>", () => `<style>${COLOURS}</style>\n${remembering(id, nonce)}</head>`);
}

/** What is shown where there is no report. */
export function trouble(id: string, why: string): string {
  const nonce = unpredictable();
  const policy = `default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-${nonce}'`;
  return `<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>body { font: var(--vscode-font-size) var(--vscode-font-family); padding: 1rem; }</style>
${remembering(id, nonce)}</head><body><p>${escaped(why.trim())}</p></body></html>`;
}

function remembering(id: string, nonce: string): string {
  // Ids have letters, digits, dots, dashes and underscores; whatever else came here is no run.
  const state = JSON.stringify({ id: id.replace(/[^\w.-]/g, "") });
  return `<script nonce="${nonce}">acquireVsCodeApi().setState(${state})</script>\n`;
}

function unpredictable(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64url");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
