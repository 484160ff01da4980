/** What a run prints, in the editor's terminal. */

/** A terminal wants a carriage return where a file has none. */
export function onScreen(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** The last words of a program, for a message of a few lines. */
export function lastWords(notes: string, result: string): string {
  const words = notes.trim() === "" ? result : notes;
  const lines = words.trim().split("\n").slice(-6).map((line) => line.trim()).filter((line) => line !== "");
  const text = plain(lines.join(" · "));
  return text.length > 400 ? `${text.slice(0, 399)}…` : text;
}

/**
 * Text of files and agents for a notification. There `[a](b)` is a link, and some links are commands
 * of the editor.
 */
export function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, "").replaceAll("](", "] (");
}
