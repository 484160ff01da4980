/** Paths as git prints them: bytes, held in strings of Latin-1 so that none is lost. */

import { lstatSync, type Stats } from "node:fs";

export const BYTES = "latin1";

/** The fields of an output that ends each of them with NUL. */
export function fields(output: Buffer): string[] {
  return output
    .toString(BYTES)
    .split("\0")
    .filter((part) => part !== "");
}

/** The statuses and paths of `--name-status`. */
export function entries(output: Buffer): [status: string, path: string][] {
  const all = fields(output);
  return all.flatMap((path, at) => (at % 2 === 0 ? [] : [[all[at - 1] ?? "", path] as [string, string]]));
}

/** Paths as git reads them from standard input. */
export function terminated(paths: string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), BYTES);
}

export function below(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, BYTES)]);
}

/** What is at a path; a final link is not followed. */
export function lstatIfPresent(at: Buffer): Stats | undefined {
  try {
    return lstatSync(at);
  } catch {
    return undefined;
  }
}

/**
 * A path as text. A byte that is not part of UTF-8 text becomes a character of its own, which stands for
 * that byte in both directions, as in `core/syntax/src/text/names.rs`.
 */
export function readable(path: string): string {
  const bytes = Buffer.from(path, BYTES);
  const text = bytes.toString();
  if (!/[\uFFFD\u{10FE80}-\u{10FEFF}]/u.test(text)) return text;
  let out = "";
  for (let at = 0; at < bytes.length; ) {
    const length = textLength(bytes, at);
    const part = bytes.toString("utf8", at, at + Math.max(length, 1));
    // Such a character in a name is text of its bytes, else two names were one text.
    const isText = length > 0 && !RAW.test(part);
    const taken = [...bytes.subarray(at, at + Math.max(length, 1))];
    out += isText ? part : taken.map((byte) => String.fromCodePoint(FIRST_RAW + byte)).join("");
    at += taken.length;
  }
  return out;
}

/** The characters that stand for bytes: the byte is added to this. */
const FIRST_RAW = 0x10fe00;
const RAW = /[\u{10FE80}-\u{10FEFF}]/u;

/** How many bytes the character at `at` has; 0: it is not a character. */
function textLength(bytes: Buffer, at: number): number {
  for (const length of [1, 2, 3, 4]) {
    const part = bytes.subarray(at, at + length);
    if (part.length === length && Buffer.from(part.toString()).equals(part)) return length;
  }
  return 0;
}

/** Whether a path has bytes that are not text. */
export function isRaw(text: string): boolean {
  return RAW.test(text);
}

/** The path that `readable` made text of. */
export function bytesOf(text: string): string {
  const bytes = (c: string): string =>
    RAW.test(c) ? String.fromCharCode((c.codePointAt(0) ?? 0) - FIRST_RAW) : Buffer.from(c).toString(BYTES);
  return isRaw(text) ? [...text].map(bytes).join("") : Buffer.from(text).toString(BYTES);
}

/** A pattern of git for a path, in which a byte that is not text is any byte. */
export function pattern(text: string): string {
  return text.replace(/[*?[\\]/g, "\\$&").replace(/[\u{10FE80}-\u{10FEFF}]/gu, "?");
}

/** Paths as text, sorted as the native host sorts them. */
export function sortedNames(paths: string[]): string[] {
  const bytes = paths.map((at) => Buffer.from(readable(at)));
  return bytes.sort(Buffer.compare).map(String);
}

/** A path for people: bytes that are not text are shown as `\\xff`. */
export function shown(at: string): string {
  const hex = (c: string): string => `\\x${((c.codePointAt(0) ?? 0) - FIRST_RAW).toString(16)}`;
  return readable(at).replace(/[\u{10FE80}-\u{10FEFF}]/gu, hex);
}

export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
