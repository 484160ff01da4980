/** Checkpoints: commits of a checkout's files outside its branches, made with a separate index. */

import { createHash } from "node:crypto";
import { accessSync, constants, existsSync } from "node:fs";
import { chmod, copyFile, mkdir, open, rm, stat, utimes } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { Failure } from "../failure.js";
import type { KeptWork, LeftOut, NamedCheckpoint } from "../vocabulary.js";
import { failure, is } from "./errors.js";
import { commit, gitPath, layoutOf } from "./git_checkout.js";
import { shellWord } from "./git_errors.js";
import { demandIntact } from "./git_integrity.js";
import {
  BYTES,
  below,
  byBytes,
  bytesOf,
  entries,
  fields,
  isRaw,
  lstatIfPresent,
  pattern,
  readable,
  shown,
  sortedNames,
  terminated,
} from "./git_paths.js";
import { type GitAsked, type GitProgram, line, succeeded } from "./git_program.js";
import { PROGRAM_SETTINGS } from "./git_settings.js";

/** The prefix of checkpoint refs. */
export const CHECKPOINTS = "refs/onloop/";
/** The ref that holds notes about commits. */
const NOTES = "refs/notes/onloop";
/** The folder of the run's records, which no checkpoint contains. */
const RECORDS = ".hotl";

/** How the checkout differs from an index; paths as bytes. */
interface Changes {
  present: string[];
  gone: string[];
}

/** Makes a checkpoint of the checkout around `cwd`. */
export async function checkpoint(
  git: GitProgram,
  cwd: string,
  made: GitAsked<"checkpoint">,
): Promise<KeptWork> {
  const { root, common } = await layoutOf(git, cwd);
  const { digest, hooks } = await demandPrograms(git, root, made.programs);
  await prepareIndex(git, root, made.index);
  const changes = await changesIn(git, root, made.index).catch(async (error: unknown) => {
    if (!(error instanceof Failure && error.kind === "other" && existsSync(made.index))) throw error;
    // The index is a cache. A damaged one is built again from the checkout.
    await rm(made.index);
    await prepareIndex(git, root, made.index);
    return changesIn(git, root, made.index);
  });
  changes.present.push(...(await trackedThoughIgnored(git, root)));
  const leftOut = await addChanges(git, root, made, changes);
  const index = { index: made.index };
  // A partial clone lacks objects.
  const tree = line(await git.succeedIsolated(root, ["write-tree", "--missing-ok"], index));
  await chmod(made.index, 0o600);
  const parent = made.parent ?? (await commit(git, root, "HEAD"));
  const words = ["commit-tree", "--no-gpg-sign", ...(parent === undefined ? [] : ["-p", parent])];
  const committed = { input: made.message, committedMs: made.at_ms };
  const id = line(await git.succeedIsolated(root, [...words, "-F", "-", tree], committed));
  await git.succeedIsolated(root, ["update-ref", "--no-deref", reference(made.name), id]);
  const programs = `${digest}+${await pushHook(hooks ?? join(common, "hooks"))}`;
  return { commit: id, tree, programs, left_out: leftOut };
}

/** Changes the files of the checkout around `cwd` to those of a commit. */
export async function restore(git: GitProgram, cwd: string, wanted: GitAsked<"restore">): Promise<void> {
  const { index } = wanted;
  const { root } = await layoutOf(git, cwd);
  await demandPrograms(git, root, wanted.programs);
  if (!existsSync(index)) {
    throw new Failure("conflict", `\`${root}\` has no checkpoint yet`);
  }
  await prepareIndex(git, root, index);
  const id = wanted.paths.length === 0 ? wanted.commit : await mixedTree(git, root, wanted);
  const found = await unsavedAt(git, root, index, id);
  if (found.length > 0) {
    throw new Failure("conflict", `nothing was changed; no checkpoint has ${found.join(", ")}`);
  }
  const { exit, stderr, asked } = await git.queryIsolated(root, ["read-tree", "-m", "-u", id], { index });
  if (exit !== 0) {
    const said = stderr.trimEnd() || "no reason given";
    throw new Failure("conflict", `${asked} ended with ${exit}: ${said}`);
  }
}

/** A tree with the files of `index`, except `paths`, which come from the commit. */
async function mixedTree(
  git: GitProgram,
  root: string,
  { index, commit: id, paths }: GitAsked<"restore">,
): Promise<string> {
  const beside = { index: `${index}.mixed` };
  await copyFile(index, beside.index);
  try {
    const input = terminated(await entriesOf(git, root, ["-r", id], paths));
    const gone = terminated(paths.map(bytesOf));
    const removal = ["update-index", "--force-remove", "-z", "--stdin"];
    await git.succeedIsolated(root, removal, { ...beside, input: gone });
    const entry = ["update-index", "--replace", "-z", "--index-info"];
    await git.succeedIsolated(root, entry, { ...beside, input });
    return line(await git.succeedIsolated(root, ["write-tree", "--missing-ok"], beside));
  } finally {
    await rm(beside.index, { force: true });
  }
}

/** Entries of a tree at these paths, which `words` names with its options. */
export async function entriesOf(
  git: GitProgram,
  root: string,
  words: string[],
  paths: string[],
): Promise<string[]> {
  const list = ["ls-tree", "--full-tree", "-z", ...words, "--"];
  if (!paths.some(isRaw)) return fields(await git.succeedIsolated(root, [...list, ...paths]));
  // An argument is text here, so the whole tree is looked through.
  const wanted = new Set(paths.map(bytesOf));
  const all = fields(await git.succeedIsolated(root, ["ls-tree", "-r", ...list.slice(1)]));
  return all.filter((entry) => wanted.has(entry.slice(entry.indexOf("\t") + 1)));
}

/** The difference between two commits, for people. */
export async function diff(
  git: GitProgram,
  cwd: string,
  { from, to, stat: isStat, paths, limit_bytes: limitBytes }: GitAsked<"diff">,
): Promise<Uint8Array> {
  const form = isStat ? "--stat=76" : "--patch";
  const plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"];
  // An argument is text here, so a byte that is not text becomes `?`, which stands for any byte.
  const isGlob = paths.some(isRaw);
  const specs = isGlob ? paths.map(pattern) : paths;
  const words = ["diff-tree", "-r", form, ...plain, "--find-renames", from, to, "--", ...specs];
  const answer = await git.queryIsolated(cwd, words, { limitBytes, isGlob });
  const said = answer.stderr.trimEnd();
  const missing = [from, to].find((id) => said.endsWith(`bad object ${id}`));
  if (missing !== undefined) {
    throw new Failure("not_found", `commit ${missing} is not in the repository around \`${cwd}\``);
  }
  return succeeded(answer);
}

/** Paths that differ between two commits, sorted by bytes. */
export async function changedPaths(
  git: GitProgram,
  cwd: string,
  { from, to }: GitAsked<"changed_paths">,
): Promise<string[]> {
  const words = ["diff-tree", "-r", "--name-only", "-z", "--no-renames", from, to, "--"];
  const paths = [...new Set(fields(await git.succeedIsolated(cwd, words)))];
  return sortedNames(paths);
}

/** Every commit with a ref below `refs/onloop/`. */
export function checkpoints(git: GitProgram, cwd: string): Promise<NamedCheckpoint[]> {
  return namedBelow(git, cwd, CHECKPOINTS);
}

/** Every commit with a ref below `base`, which ends with a slash. */
export async function namedBelow(
  git: GitProgram,
  cwd: string,
  base: string,
): Promise<NamedCheckpoint[]> {
  const format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)";
  const listed = line(await git.succeedIsolated(cwd, ["for-each-ref", format, base]));
  return listed.split("\n").flatMap((entry) => {
    const [name, id, seconds] = entry.split("\0");
    // A ref to anything but a commit has no time, and onloop makes none.
    if (!name?.startsWith(base) || id === undefined || !/^-?\d+$/.test(seconds ?? "")) {
      return [];
    }
    return [{ name: name.slice(base.length), commit: id, at_ms: Number(seconds) * 1000 }];
  });
}

/** Deletes a checkpoint ref that has to name `id`. */
export async function forgetCheckpoint(
  git: GitProgram,
  cwd: string,
  { name, commit: id }: GitAsked<"forget_checkpoint">,
): Promise<void> {
  const full = reference(name);
  const found = await commit(git, cwd, full);
  if (found !== id) {
    const kind = found === undefined ? "not_found" : "conflict";
    throw new Failure(kind, `\`${full}\` names ${found ?? "nothing"}, expected ${id}`);
  }
  await git.succeedIsolated(cwd, ["update-ref", "--no-deref", "-d", full, id]);
}

/** Replaces the note about a commit. */
export async function note(
  git: GitProgram,
  cwd: string,
  { commit: id, text, at_ms: atMs }: GitAsked<"note">,
): Promise<void> {
  await demandIntact(git, cwd, id);
  const words = ["notes", "--ref", NOTES, "add", "--force", "--file", "-", id];
  await git.succeedIsolated(cwd, words, { input: text, committedMs: atMs });
}

function reference(name: string): string {
  return `${CHECKPOINTS}${name}`;
}

/**
 * Digest of the programs that the repository's own configuration makes git run. Refuses other programs
 * than `expected`.
 */
async function demandPrograms(
  git: GitProgram,
  root: string,
  expected: string | null,
): Promise<Programs> {
  const listed = await git.succeedIsolated(root, ["config", "--list", "--show-scope", "--show-origin", "-z"]);
  const entries = listed.toString(BYTES).split("\0");
  const named = createHash("sha256");
  const keys = new Map<string, [key: string, file: string]>();
  const folders: string[] = [];
  for (let at = 0; at + 2 < entries.length; at += 3) {
    const [scope, origin = "", entry = ""] = entries.slice(at, at + 3);
    const [key = ""] = entry.split("\n");
    if (key === "core.hookspath") folders.push(folderIn(root, readable(entry.slice(key.length + 1))));
    if ((scope === "local" || scope === "worktree") && namesProgram(key)) {
      named.update(`${entry}\0`, BYTES);
      // A key can be in a file that the configuration includes, or in one of the worktree.
      const file = resolve(root, readable(origin.replace(/^file:/, "")));
      keys.set(`${readable(key)}\0${file}`, [readable(key), file]);
    }
  }
  // The last value is our own setting, which turns hooks off.
  const hooks = folders.at(-2);
  const digest = named.digest("hex");
  // The part behind `+` is the digest of a hook, which does not run here.
  if (expected === null || expected.split("+")[0] === digest) {
    return { digest, ...(hooks !== undefined && { hooks }) };
  }
  const found = [...keys].sort(([a], [b]) => byBytes(a, b)).map(([, named]) => named);
  const list = found.map(([key, file]) => `\`${key}\` in \`${file}\``);
  const removals = found.map(
    ([key, file]) => `git config --file ${shellWord(file)} --unset-all ${shellWord(key)}`,
  );
  throw new Failure(
    "denied",
    `the configuration of the repository around \`${root}\` names other programs than when the ` +
      `run began (${list.join(", ") || "none now"}), and git would run them`,
    found.length === 0
      ? { text: "set again what was removed from it since" }
      : {
          text: "remove them, and set what you set yourself with `git config --global` instead",
          command: removals.join("; "),
        },
  );
}

/** The programs that git runs for a repository. */
interface Programs {
  /** Digest of the programs in its own configuration. */
  digest: string;
  /** The configured folder of hooks. */
  hooks?: string;
}

/** Resolves a configured folder, which may be relative to the top folder or to the user's home. */
function folderIn(root: string, named: string): string {
  if (named.startsWith("~/")) return join(homedir(), named.slice(2));
  return isAbsolute(named) ? named : join(root, named);
}

/** The part of a hook that its digest covers, together with its length. */
const HOOK_BYTES = 1024 * 1024;

/** Digest of the hook that a push runs; empty without a hook. */
async function pushHook(hooks: string): Promise<string> {
  const path = join(hooks, "pre-push");
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return "";
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HOOK_BYTES), 0, HOOK_BYTES, 0);
    const seen = createHash("sha256").update(buffer.subarray(0, bytesRead));
    return seen.update(`\0${found.size}`).digest("hex");
  } finally {
    await file.close();
  }
}

/**
 * Whether this setting names a program that our git commands would run. Hooks, the file system monitor
 * and programs that show differences are turned off anyway.
 */
function namesProgram(key: string): boolean {
  const section = key.split(".")[0] ?? "";
  const name = key.split(".").at(-1) ?? "";
  return Object.hasOwn(PROGRAM_SETTINGS, section) && (PROGRAM_SETTINGS[section] ?? []).includes(name);
}

/**
 * Copies the checkout's index to `index` if that does not exist yet, and removes the lock of a killed
 * git. Only the process that drives the run uses this index.
 */
async function prepareIndex(git: GitProgram, root: string, index: string): Promise<void> {
  await rm(`${index}.lock`, { force: true });
  if (existsSync(index)) return;
  await mkdir(dirname(index), { recursive: true, mode: 0o700 });
  const own = await gitPath(git, root, "index");
  try {
    const { mtimeMs } = await stat(own);
    await copyFile(own, index);
    // Git trusts an index about files that are older than the index, so its time must not grow.
    const seconds = Math.floor(mtimeMs) / 1000;
    await utimes(index, seconds, seconds);
  } catch (error) {
    // A new repository has no index.
    if (!is(error, "ENOENT")) throw failure(error, `\`${own}\``);
  }
}

async function changesIn(git: GitProgram, root: string, index: string): Promise<Changes> {
  const flags = ["--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const present: string[] = [];
  const gone: string[] = [];
  for (const entry of fields(await git.succeedIsolated(root, ["status", ...flags], { index }))) {
    // Git marks a nested repository with a slash.
    const path = entry.slice(3).replace(/\/$/, "");
    if (entry[1] === " " || path === RECORDS || path.startsWith(`${RECORDS}/`)) continue;
    // In a conflict the first letter is `D` or `U`, and the file is still there.
    const isGone = entry[1] === "D" && !"DU".includes(entry[0] ?? "");
    (isGone ? gone : present).push(path);
  }
  return { present, gone };
}

/** Ignored files that the checkout's index has because of `git add --force`. */
async function trackedThoughIgnored(git: GitProgram, root: string): Promise<string[]> {
  const words = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"];
  const paths = fields(await git.succeedIsolated(root, words));
  // Some of them may be missing, as in a sparse checkout.
  return paths.filter((path) => lstatIfPresent(below(root, path)) !== undefined);
}

/** Writes the changes to the index; returns the paths that it leaves out. */
async function addChanges(
  git: GitProgram,
  root: string,
  made: GitAsked<"checkpoint">,
  changes: Changes,
): Promise<LeftOut[]> {
  const left = await pathsLeftOut(git, root, changes.present, made.limit_bytes);
  const stdin = ["-z", "--stdin"];
  const change = async (words: string[], paths: string[]): Promise<void> => {
    if (paths.length === 0) return;
    const input = terminated(paths);
    await git.succeedIsolated(root, ["update-index", ...words, ...stdin], { index: made.index, input });
  };
  const kept = changes.present.filter((path) => !left.has(path));
  // Removals come first: a folder may have replaced a file, and a link a folder. Git only removes a
  // file that a nested repository replaces.
  const folders = kept.filter((path) => lstatIfPresent(below(root, path))?.isDirectory());
  await change(["--force-remove"], [...changes.gone, ...folders]);
  await change(["--add", "--remove", "--replace"], kept);
  return [...left].map(([path, why]) => ({ path: readable(path), why }));
}

/** Paths that a checkpoint cannot contain, with the reasons. */
async function pathsLeftOut(
  git: GitProgram,
  root: string,
  paths: string[],
  limitBytes: number,
): Promise<Map<string, LeftOut["why"]>> {
  const left = new Map<string, LeftOut["why"]>();
  const large: string[] = [];
  for (const path of paths) {
    const at = below(root, path);
    const found = lstatIfPresent(at);
    // `update-index` removes missing files, and stores a link by its text.
    if (found === undefined || found.isSymbolicLink()) continue;
    if (found.isDirectory()) {
      const id = await commit(git, join(root, readable(path)), "HEAD").catch(() => undefined);
      if (id === undefined) left.set(path, "no_commit");
    } else if (!found.isFile() || !isReadable(at)) {
      left.set(path, "unreadable");
    } else if (found.size > limitBytes) {
      large.push(path);
    }
  }
  if (large.length > 0) {
    const filtered = await filteredOf(git, root, large);
    for (const path of large) if (!filtered.has(path)) left.set(path, "too_large");
  }
  return new Map([...left].sort(([a], [b]) => byBytes(a, b)));
}

/** Those of `paths` that a filter converts, such as files of Git LFS. */
async function filteredOf(git: GitProgram, root: string, paths: string[]): Promise<Set<string>> {
  const input = terminated(paths);
  const said = await git.succeedIsolated(root, ["check-attr", "-z", "--stdin", "filter"], { input });
  const parts = said.toString(BYTES).split("\0");
  const filtered = new Set<string>();
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const value = parts[at + 2] ?? "";
    if (value !== "unspecified" && value !== "unset") filtered.add(parts[at] ?? "");
  }
  return filtered;
}

/** Files that no checkpoint has, at the paths of files of `id`. */
async function unsavedAt(
  git: GitProgram,
  root: string,
  index: string,
  id: string,
): Promise<string[]> {
  const words = ["diff-index", "--cached", "--name-status", "-z", "--no-renames", id, "--"];
  const differ = entries(await git.succeedIsolated(root, words, { index }));
  const having = (status: string): string[] => differ.flatMap(([found, path]) => (found === status ? [path] : []));
  const wanted = having("D");
  const leaving = new Set(having("A"));
  const found = new Set<string>();
  for (const path of wanted) {
    const parts = path.split("/");
    for (let count = 1; count <= parts.length; count += 1) {
      const part = parts.slice(0, count).join("/");
      const there = lstatIfPresent(below(root, part));
      if (there === undefined) break;
      const kept = leaving.has(part);
      if (!there.isDirectory()) {
        if (!kept) found.add(part);
        // A path through a link leads out of the checkout.
        break;
      }
      if (!kept && part === path) {
        const isGlob = isRaw(readable(path));
        const others = ["ls-files", "--others", "-z", "--", isGlob ? `${pattern(readable(path))}/**` : readable(path)];
        for (const other of fields(await git.succeedIsolated(root, others, { index, isGlob }))) found.add(other);
      }
    }
  }
  return [...found].sort(byBytes).map((path) => `\`${shown(path)}\``);
}

function isReadable(at: Buffer): boolean {
  try {
    accessSync(at, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
