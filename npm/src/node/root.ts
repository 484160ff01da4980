/** From the paths in requests to the paths of this machine. */

import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { Failure } from "../failure.js";

/** The folder that relative paths are below. */
export class Root {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Where `path` is. `..` is left to the file system, which knows about links. */
  resolve(path: string): string {
    if (path === "") throw new Failure("invalid", "an empty path names nothing");
    if (path.includes("\0")) {
      const shown = path.replaceAll("\0", "\\0");
      throw new Failure("invalid", `\`${shown}\` contains a NUL, which no path can`);
    }
    if (isAbsolute(path)) return path;
    return this.folder.endsWith(sep) ? this.folder + path : this.folder + sep + path;
  }

  /** Whether removing `path` would also remove the folder that the program works in. */
  standsOn(path: string): boolean {
    const target = resolve(path);
    const way = relative(target, resolve(this.folder));
    return dirname(target) === target || !(way.startsWith("..") || isAbsolute(way));
  }
}
