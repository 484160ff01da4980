/** Resolves the paths of requests. */

import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { Failure } from "../failure.js";

/** The folder that relative paths start from. */
export class Root {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The absolute path. The file system resolves `..`, because it knows the links. */
  resolve(path: string): string {
    if (path === "") throw new Failure("invalid", "an empty path names nothing");
    if (path.includes("\0")) {
      const shown = path.replaceAll("\0", "\\0");
      throw new Failure("invalid", `\`${shown}\` contains a NUL, which no path can`);
    }
    if (isAbsolute(path)) return path;
    return this.folder.endsWith(sep) ? this.folder + path : this.folder + sep + path;
  }

  /** Whether the folder is `path` or inside it, so that it must not be removed. */
  isInside(path: string): boolean {
    const target = resolve(path);
    const rest = relative(target, resolve(this.folder));
    return dirname(target) === target || !(rest.startsWith("..") || isAbsolute(rest));
  }
}
