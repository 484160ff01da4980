/**
 * Refuses text files without a `#!` line. The C library behind Node would hand them to a shell, which
 * would run their text as commands.
 */

import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { Failure } from "../failure.js";

/** The part of a file that tells text from a program. */
const HEAD_BYTES = 128;

/** Throws when `program`, started in `cwd` with `env`, is text without a `#!` line. */
export function refuseText(program: string, cwd: string, env: NodeJS.ProcessEnv): void {
  if (process.platform === "win32") return;
  const file = find(program, cwd, env["PATH"]);
  const head = file === undefined ? undefined : headOf(file);
  if (head === undefined || head.includes(0) || head.toString("latin1").startsWith("#!")) return;
  const why = "it is neither a program nor a script that begins with `#!`";
  throw new Failure("invalid", `cannot run \`${program}\`: ${why}`);
}

function find(program: string, cwd: string, path = ""): string | undefined {
  if (program.includes("/")) return resolve(cwd, program);
  const places = path.split(delimiter).map((folder) => resolve(cwd, join(folder, program)));
  return places.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The first bytes; `undefined` if the file cannot be read, which the system reports. */
function headOf(path: string): Buffer | undefined {
  if (!isProgram(path)) return undefined;
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY);
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
