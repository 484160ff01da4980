/** Small things about files that the core asks for while it answers a git request. */

import {
  type Stats,
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
} from "node:fs";
import {
  chmod,
  copyFile,
  mkdir,
  open,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Failure } from "../failure.js";
import type { Found, Step, StepReply } from "../git_steps.js";
import { is, onPath } from "./errors.js";
import { removeTree } from "./removal.js";

const DONE: StepReply = { is: "done" };
/** A character that stands for a byte which is not text, as in `core/syntax/src/text/names.rs`. */
const RAW = /[\u{10FE80}-\u{10FEFF}]/u;

/** Performs a step that runs no command. */
export async function performStep(step: Exclude<Step, { step: "run" }>): Promise<StepReply> {
  switch (step.step) {
    case "look":
      return { is: "found", found: step.paths.map((path) => look(path, step.follow, step.open)) };
    case "read":
      return { is: "content", bytes: await onPath("read", step.path, () => read(step)) };
    case "canonical": {
      const path = await onPath("resolve", step.path, () => realpath(at(step.path)));
      return { is: "path", path: slashed(path) };
    }
    case "find_link":
      return { is: "path", path: await onPath("look into", step.paths[0] ?? "", () => Promise.resolve(findLink(step.paths))) };
    case "git_works_in":
      return { is: "works", works: gitWorksIn(step.folder) };
    case "write":
      await onPath("write", step.path, () => writeFile(at(step.path), step.bytes));
      return DONE;
    case "replace":
      await onPath("write", step.lock, () => replace(step));
      return DONE;
    case "copy":
      await onPath("copy", step.from, () => copy(step.from, step.to));
      return DONE;
    case "rename":
      await onPath("rename", step.from, () => rename(at(step.from), at(step.to)));
      return DONE;
    case "remove_file":
      await onPath("remove", step.path, () => unlink(at(step.path)));
      return DONE;
    case "remove_folder":
      await onPath("remove", step.path, () => rmdir(at(step.path)));
      return DONE;
    case "remove_tree":
      await onPath("remove", step.path, () => removeTree(step.path));
      return DONE;
    case "make_folder":
      await onPath("create", step.path, () => mkdir(at(step.path)));
      return DONE;
    case "make_private":
      await onPath("change the permissions of", step.path, () => makePrivate(step.path));
      return DONE;
    case "pause":
      await setTimeout(step.duration_ms);
      return DONE;
  }
}

/** A path with `/` between its parts, as the core writes them. */
export function slashed(path: string): string {
  return sep === "\\" ? path.replaceAll("\\", "/") : path;
}

/** The path that the core names. */
function at(path: string): Buffer {
  const bytes = (c: string): Buffer => (RAW.test(c) ? Buffer.of((c.codePointAt(0) ?? 0) & 0xff) : Buffer.from(c));
  return RAW.test(path) ? Buffer.concat([...path].map(bytes)) : Buffer.from(path);
}

function look(path: string, follow: boolean, isOpened: boolean): Found | null {
  let found: Stats;
  try {
    found = follow ? statSync(at(path)) : lstatSync(at(path));
  } catch {
    return null;
  }
  const kind = found.isFile() ? "file" : found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : "other";
  const opens = isOpened && kind === "file" && isReadable(path);
  return { kind, size_bytes: found.size, device: found.dev, opens };
}

function isReadable(path: string): boolean {
  try {
    accessSync(at(path), constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

async function read({ path, first_bytes: first, untrusted }: Extract<Step, { step: "read" }>): Promise<Uint8Array> {
  // Windows has neither flag. A named pipe without a writer does not block.
  const links = untrusted ? (constants.O_NOFOLLOW ?? 0) : 0;
  const file = await open(at(path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | links);
  try {
    const found = await file.stat();
    if (!found.isFile()) throw new Failure("invalid", `cannot read \`${path}\`: it is not a plain file`);
    if (first === null || found.size <= first) return await file.readFile();
    const { bytesRead, buffer } = await file.read(Buffer.alloc(first), 0, first, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function replace({ path, lock, bytes }: Extract<Step, { step: "replace" }>): Promise<void> {
  try {
    const mode = (await stat(at(path)).catch(() => undefined))?.mode;
    const file = await open(at(lock), "wx", mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(at(lock), at(path));
  } catch (error) {
    if (!is(error, "EEXIST")) await rm(at(lock), { force: true });
    throw error;
  }
}

async function copy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const { mtimeMs } = await stat(at(from));
  await copyFile(at(from), at(to));
  // The time must not grow, because git trusts an index about files that are older than it.
  const seconds = Math.floor(mtimeMs) / 1000;
  await utimes(at(to), seconds, seconds);
}

async function makePrivate(path: string): Promise<void> {
  await chmod(at(path), 0o600).catch((error: unknown) => {
    if (!is(error, "ENOENT")) throw error;
  });
}

/** Names stay bytes, since an agent may write one that is not text. */
function findLink(paths: readonly string[]): string | null {
  const ahead = paths.map(at);
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) return path.toString();
    const folder = path;
    const below = (name: Buffer): Buffer => Buffer.concat([folder, Buffer.from("/"), name]);
    if (found?.isDirectory() === true) ahead.push(...readdirSync(folder, { encoding: "buffer" }).map(below));
  }
  return null;
}

/** Whether a git works in the folder; `null`: the system does not tell. */
function gitWorksIn(folder: string): boolean | null {
  if (!existsSync("/proc/self/comm")) return null;
  return readdirSync("/proc").some((pid) => {
    try {
      const process = join("/proc", pid);
      if (!readFileSync(join(process, "comm"), "utf8").startsWith("git")) return false;
      const cwd = readlinkSync(join(process, "cwd"));
      return cwd === folder || cwd.startsWith(`${folder}/`);
    } catch {
      // The process has ended, or belongs to another user.
      return false;
    }
  });
}
