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

/** A path as text; bytes that are not UTF-8 are replaced. */
export function readable(path: string): string {
  return Buffer.from(path, BYTES).toString();
}

export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
