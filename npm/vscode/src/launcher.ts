/** The script that runs the extension's copy of onloop with the Node of the editor. */

export function launcher(platform: string, node: string, program: string): { name: string; text: string } {
  if (platform === "win32") {
    const text = `@echo off\r\nset ELECTRON_RUN_AS_NODE=1\r\n"${node}" "${program}" "%~f0" %*\r\n`;
    return { name: "onloop.cmd", text };
  }
  const text = `#!/bin/sh\nELECTRON_RUN_AS_NODE=1 exec ${quoted(node)} ${quoted(program)} "$0" "$@"\n`;
  return { name: "onloop", text };
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
