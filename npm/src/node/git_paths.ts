/** Paths as git says them: bytes, in an encoding that keeps every one of them. */

import { lstatSync, type Stats } from "node:fs";

export const BYTES = "latin1";

/** The parts of an output that terminates each of them with NUL. */
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

/** Paths as git reads them from its standard input. */
export function terminated(paths: string[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\0`).join(""), BYTES);
}

export function below(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, BYTES)]);
}

/** What is at a path, not following a final link. */
export function look(at: Buffer): Stats | undefined {
  try {
    return lstatSync(at);
  } catch {
    return undefined;
  }
}

/** A path as text; what is not UTF-8 in it is replaced. */
export function readable(path: string): string {
  return Buffer.from(path, BYTES).toString();
}

export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
