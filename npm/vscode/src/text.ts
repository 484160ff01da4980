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

/** Text that a person decides about, on lines of its own: what would hide or turn round a part of it is spelled out. */
export function spelled(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (unit) => `\\u{${unit.charCodeAt(0).toString(16)}}`);
}
