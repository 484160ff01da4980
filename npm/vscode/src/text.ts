/** Prepares text for terminals, messages and dialogs of the editor. */

/** Adds the carriage returns that a terminal needs. */
export function withCarriageReturns(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** The last lines of the output of a program, shortened for a notification. */
export function lastLines(notes: string, result: string): string {
  const words = notes.trim() === "" ? result : notes;
  const lines = words.trim().split("\n").slice(-6).map((line) => line.trim()).filter((line) => line !== "");
  const text = plain(lines.join(" · "));
  return text.length > 400 ? `${text.slice(0, 399)}…` : text;
}

/**
 * Makes text of files and agents safe for a notification, where `[a](b)` is a link that may run a
 * command of the editor.
 */
export function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, "").replaceAll("](", "] (");
}

/** Spells out invisible and direction-changing characters in text that a person decides about. */
export function escapeInvisible(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (unit) => `\\u{${unit.charCodeAt(0).toString(16)}}`);
}
