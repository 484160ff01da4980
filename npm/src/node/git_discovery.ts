/** Where a repository is looked for, as git does it. */

import { existsSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";

/** The nearest folder that has a `.git`, of those that git looks into from `cwd`. */
export function enclosing(cwd: string): string | undefined {
  return searched(cwd).find((folder) => existsSync(join(folder, ".git")));
}

/** The folders that are looked into from `cwd`, nearest first. */
function searched(cwd: string): string[] {
  const begin = real(cwd);
  const ends = ceilings(process.env["GIT_CEILING_DIRECTORIES"] ?? "");
  const crosses = isTrue(process.env["GIT_DISCOVERY_ACROSS_FILESYSTEM"] ?? "");
  const disk = diskOf(begin);
  const folders = [begin];
  for (let at = dirname(begin); at !== folders.at(-1); at = dirname(at)) {
    if (ends.has(at) || (!crosses && diskOf(at) !== disk)) break;
    folders.push(at);
  }
  return folders;
}

/** Folders that are not entered from below; links in what comes after an empty entry stay. */
function ceilings(list: string): Set<string> {
  const all = list.split(delimiter);
  const empty = all.indexOf("");
  const entries = all.map((folder, at) => (empty >= 0 && at > empty ? folder : real(folder)));
  return new Set(entries.filter(isAbsolute));
}

/** As git reads a variable that is on or off. */
function isTrue(value: string): boolean {
  return /^(true|yes|on)$/i.test(value) || (/^[+-]?\d+$/.test(value) && Number(value) !== 0);
}

function diskOf(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.dev;
}

function real(path: string): string {
  try {
    return path === "" ? path : realpathSync.native(path);
  } catch {
    return path;
  }
}
