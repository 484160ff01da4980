/** The document in which a webview loads the page of `onloop web`. */

export interface PageFiles {
  script: string;
  /** Style sheets in their order. */
  styles: string[];
  /** Where the editor lets the page load them from. */
  origin: string;
}

/** The page, which shows `start` first: a path, as in the address of `onloop web`. */
export function pageHtml({ script, styles, origin }: PageFiles, start: string): string {
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString("base64url");
  // As the program tells browsers: nothing but our own files, and no text becomes a script.
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${origin}; form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
${styles.map((style) => `<link rel="stylesheet" href="${escaped(style)}">`).join("\n")}
<script nonce="${nonce}" src="${escaped(script)}" defer></script>
</head>
<body><div id="app" data-start="${escaped(start)}"></div></body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
