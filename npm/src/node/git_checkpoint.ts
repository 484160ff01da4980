/** Keeping the files of a checkout as a commit beside its branches, with an index of its own. */

import { createHash } from "node:crypto";
import { accessSync, constants, existsSync } from "node:fs";
import { chmod, copyFile, mkdir, open, rm, stat, utimes } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { Failure } from "../failure.js";
import type { KeptWork, LeftOut, NamedCheckpoint } from "../vocabulary.js";
import { failure, is } from "./errors.js";
import { commit, layoutOf } from "./git_checkout.js";
import { demandIntact } from "./git_integrity.js";
import { BYTES, below, byBytes, entries, fields, look, readable, terminated } from "./git_paths.js";
import { type GitAsked, type GitProgram, line, succeeded } from "./git_program.js";

/** Where the names of checkpoints begin. */
export const CHECKPOINTS = "refs/onloop/";
/** Where there is something to say about commits. */
const NOTES = "refs/notes/onloop";
/** The folder in which copies of records lie; it is the run's and not its work. */
const OURS = ".hotl";

/** What is different in the checkout from what an index says; paths as bytes. */
interface Changes {
  present: string[];
  gone: string[];
}

/** Keeps the files of the checkout around `cwd`. */
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
    // An index that cannot be read is only a memory of what is in the checkout.
    await rm(made.index);
    await prepareIndex(git, root, made.index);
    return changesIn(git, root, made.index);
  });
  const leftOut = await takeIn(git, root, made, changes);
  const index = { index: made.index };
  // What is missing here was missing before: a partial clone.
  const tree = line(await git.succeedAside(root, ["write-tree", "--missing-ok"], index));
  await chmod(made.index, 0o600);
  const parent = made.parent ?? (await commit(git, root, "HEAD"));
  const words = ["commit-tree", "--no-gpg-sign", ...(parent === undefined ? [] : ["-p", parent])];
  const committed = { input: made.message, committedMs: made.at_ms };
  const id = line(await git.succeedAside(root, [...words, "-F", "-", tree], committed));
  await git.succeedAside(root, ["update-ref", "--no-deref", reference(made.name), id]);
  const programs = `${digest}+${await pushHook(hooks ?? join(common, "hooks"))}`;
  return { commit: id, tree, programs, left_out: leftOut };
}

/** Makes the files of the checkout around `cwd` those that are wanted. */
export async function restore(git: GitProgram, cwd: string, wanted: GitAsked<"restore">): Promise<void> {
  const { index } = wanted;
  const { root } = await layoutOf(git, cwd);
  await demandPrograms(git, root, wanted.programs);
  if (!existsSync(index)) {
    throw new Failure("conflict", `nothing is known about the files in \`${root}\``);
  }
  await prepareIndex(git, root, index);
  const id = wanted.paths.length === 0 ? wanted.commit : await mixedTree(git, root, wanted);
  const found = await inTheWay(git, root, index, id);
  if (found.length > 0) {
    throw new Failure("conflict", `nothing was changed; in the way: ${found.join(", ")}`);
  }
  const { exit, stderr, asked } = await git.askAside(root, ["read-tree", "-m", "-u", id], { index });
  if (exit !== 0) {
    const said = stderr.trimEnd() || "no reason given";
    throw new Failure("conflict", `${asked} ended with ${exit}: ${said}`);
  }
}

/** A tree with the files that `index` has, but for `paths`, which are as in the commit. */
async function mixedTree(
  git: GitProgram,
  root: string,
  { index, commit: id, paths }: GitAsked<"restore">,
): Promise<string> {
  const beside = { index: `${index}.mixed` };
  await copyFile(index, beside.index);
  try {
    const list = ["ls-tree", "-r", "--full-tree", "-z", id, "--", ...paths];
    const input = await git.succeedAside(root, list);
    const gone = paths.map((path) => `${path}\0`).join("");
    const removal = ["update-index", "--force-remove", "-z", "--stdin"];
    await git.succeedAside(root, removal, { ...beside, input: gone });
    const entry = ["update-index", "--replace", "-z", "--index-info"];
    await git.succeedAside(root, entry, { ...beside, input });
    return line(await git.succeedAside(root, ["write-tree", "--missing-ok"], beside));
  } finally {
    await rm(beside.index, { force: true });
  }
}

/** What changed between two commits, for people. */
export async function diff(
  git: GitProgram,
  cwd: string,
  { from, to, stat: isStat, paths, limit_bytes: limitBytes }: GitAsked<"diff">,
): Promise<Uint8Array> {
  const form = isStat ? "--stat=76" : "--patch";
  const plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"];
  const words = ["diff-tree", "-r", form, ...plain, "--find-renames", from, to, "--", ...paths];
  const answer = await git.askAside(cwd, words, { limitBytes });
  const said = answer.stderr.trimEnd();
  const missing = [from, to].find((id) => said.endsWith(`bad object ${id}`));
  if (missing !== undefined) {
    throw new Failure("not_found", `commit ${missing} is not in the repository around \`${cwd}\``);
  }
  return succeeded(answer);
}

/** Paths that differ between two commits, sorted by their bytes. */
export async function changedPaths(
  git: GitProgram,
  cwd: string,
  { from, to }: GitAsked<"changed_paths">,
): Promise<string[]> {
  const words = ["diff-tree", "-r", "--name-only", "-z", "--no-renames", from, to, "--"];
  const paths = [...new Set(fields(await git.succeedAside(cwd, words)))];
  return paths.sort(byBytes).map(readable);
}

/** Every commit that has a name below `refs/onloop/`. */
export function checkpoints(git: GitProgram, cwd: string): Promise<NamedCheckpoint[]> {
  return namedBelow(git, cwd, CHECKPOINTS);
}

/** Every commit that has a name below `base`, which ends with a slash. */
export async function namedBelow(
  git: GitProgram,
  cwd: string,
  base: string,
): Promise<NamedCheckpoint[]> {
  const format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)";
  const listed = line(await git.succeedAside(cwd, ["for-each-ref", format, base]));
  return listed.split("\n").flatMap((entry) => {
    const [name, id, seconds] = entry.split("\0");
    // What is not a commit there has no time, and is not ours.
    if (!name?.startsWith(base) || id === undefined || !/^-?\d+$/.test(seconds ?? "")) {
      return [];
    }
    return [{ name: name.slice(base.length), commit: id, at_ms: Number(seconds) * 1000 }];
  });
}

/** Takes a name away that has to name `id`. */
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
  await git.succeedAside(cwd, ["update-ref", "--no-deref", "-d", full, id]);
}

/** Says something about a commit, instead of what was said about it before. */
export async function note(
  git: GitProgram,
  cwd: string,
  { commit: id, text, at_ms: atMs }: GitAsked<"note">,
): Promise<void> {
  await demandIntact(git, cwd, id);
  const words = ["notes", "--ref", NOTES, "add", "--force", "--file", "-", id];
  await git.succeedAside(cwd, words, { input: text, committedMs: atMs });
}

function reference(name: string): string {
  return `${CHECKPOINTS}${name}`;
}

/**
 * Digest of everything that the repository's own configuration names as a program which git would
 * run for us.
 */
async function demandPrograms(
  git: GitProgram,
  root: string,
  expected: string | null,
): Promise<Programs> {
  const listed = await git.succeedAside(root, ["config", "--list", "--show-scope", "-z"]);
  const entries = listed.toString(BYTES).split("\0");
  const named = createHash("sha256");
  const keys = new Set<string>();
  const folders: string[] = [];
  for (let at = 0; at + 1 < entries.length; at += 2) {
    const [scope, entry = ""] = entries.slice(at, at + 2);
    const [key = ""] = entry.split("\n");
    if (key === "core.hookspath") folders.push(folderIn(root, readable(entry.slice(key.length + 1))));
    if ((scope === "local" || scope === "worktree") && namesProgram(key)) {
      named.update(`${entry}\0`, BYTES);
      keys.add(readable(key));
    }
  }
  // What we say ourselves comes last, turns hooks off, and does not count.
  const hooks = folders.at(-2);
  const digest = named.digest("hex");
  // What comes after it is about a hook, which does not run here.
  if (expected === null || expected.split("+")[0] === digest) {
    return { digest, ...(hooks !== undefined && { hooks }) };
  }
  const list = [...keys].sort().map((key) => `\`${key}\``);
  throw new Failure(
    "denied",
    `the configuration of the repository around \`${root}\` names other programs than when the ` +
      `run began (${list.join(", ") || "none now"}), and git would run them`,
  );
}

/** Programs that a repository names. */
interface Programs {
  /** Of those that its own configuration names. */
  digest: string;
  /** Where the hooks are, if any configuration says so. */
  hooks?: string;
}

/** A folder as configuration names it: relative to the top folder, or to the home of the user. */
function folderIn(root: string, named: string): string {
  if (named.startsWith("~/")) return join(homedir(), named.slice(2));
  return isAbsolute(named) ? named : join(root, named);
}

/** How much of a hook is looked at, besides its length. */
const HOOK_BYTES = 1024 * 1024;

/** Digest of the hook that a push runs; empty: there is none. */
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
 * Whether git would run what this setting says when it does what we ask. What we turn off does not
 * count: hooks, the file system monitor, everything that shows differences.
 */
function namesProgram(key: string): boolean {
  const section = key.split(".")[0] ?? "";
  const name = key.split(".").at(-1) ?? "";
  const names: Record<string, string[]> = {
    filter: ["clean", "smudge", "process"],
    merge: ["driver"],
    gpg: ["program", "defaultkeycommand"],
    core: ["sshcommand", "gitproxy", "askpass"],
    credential: ["helper"],
    remote: ["uploadpack", "receivepack", "vcs"],
    protocol: ["allow"],
  };
  return Object.hasOwn(names, section) && (names[section] ?? []).includes(name);
}

/**
 * Makes `index` ready to be used: begins it with what the checkout's index says, and takes away the
 * lock of a git that was killed. Only the process that drives the run uses it.
 */
async function prepareIndex(git: GitProgram, root: string, index: string): Promise<void> {
  await rm(`${index}.lock`, { force: true });
  if (existsSync(index)) return;
  await mkdir(dirname(index), { recursive: true, mode: 0o700 });
  const words = ["rev-parse", "--path-format=absolute", "--git-path", "index"];
  const own = line(await git.succeed(root, words));
  try {
    const { mtimeMs } = await stat(own);
    await copyFile(own, index);
    // Git trusts what an index says of files that are older than it: it must not become younger.
    const seconds = Math.floor(mtimeMs) / 1000;
    await utimes(index, seconds, seconds);
  } catch (error) {
    // Nothing was ever added.
    if (!is(error, "ENOENT")) throw failure(error, `\`${own}\``);
  }
}

async function changesIn(git: GitProgram, root: string, index: string): Promise<Changes> {
  const flags = ["--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
  const present: string[] = [];
  const gone: string[] = [];
  for (const entry of fields(await git.succeedAside(root, ["status", ...flags], { index }))) {
    // A repository inside the checkout ends with a slash.
    const path = entry.slice(3).replace(/\/$/, "");
    if (entry[1] === " " || path === OURS || path.startsWith(`${OURS}/`)) continue;
    // Of a conflict the index knows several files and none that is gone.
    const isGone = entry[1] === "D" && !"DU".includes(entry[0] ?? "");
    (isGone ? gone : present).push(path);
  }
  return { present, gone };
}

/** Writes the changes to the index; returns what cannot be kept. */
async function takeIn(
  git: GitProgram,
  root: string,
  made: GitAsked<"checkpoint">,
  changes: Changes,
): Promise<LeftOut[]> {
  const left = await unkept(git, root, changes.present, made.limit_bytes);
  const stdin = ["-z", "--stdin"];
  const change = async (words: string[], paths: string[]): Promise<void> => {
    if (paths.length === 0) return;
    const input = terminated(paths);
    await git.succeedAside(root, ["update-index", ...words, ...stdin], { index: made.index, input });
  };
  const kept = changes.present.filter((path) => !left.has(path));
  // First: a folder may take the place of a file, a link that of a folder, and git only removes a file
  // whose place a repository has taken.
  const folders = kept.filter((path) => look(below(root, path))?.isDirectory());
  await change(["--force-remove"], [...changes.gone, ...folders]);
  await change(["--add", "--remove", "--replace"], kept);
  return [...left].map(([path, why]) => ({ path: readable(path), why }));
}

async function unkept(
  git: GitProgram,
  root: string,
  paths: string[],
  limitBytes: number,
): Promise<Map<string, LeftOut["why"]>> {
  const left = new Map<string, LeftOut["why"]>();
  const large: string[] = [];
  for (const path of paths) {
    const at = below(root, path);
    const found = look(at);
    // What has gone since is taken out of the index, and a link is what it says.
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

/** Those of `paths` of which a filter makes something else. */
async function filteredOf(git: GitProgram, root: string, paths: string[]): Promise<Set<string>> {
  const input = terminated(paths);
  const said = await git.succeedAside(root, ["check-attr", "-z", "--stdin", "filter"], { input });
  const parts = said.toString(BYTES).split("\0");
  const filtered = new Set<string>();
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const value = parts[at + 2] ?? "";
    if (value !== "unspecified" && value !== "unset") filtered.add(parts[at] ?? "");
  }
  return filtered;
}

/** Files that no checkpoint has, where the files of `id` belong. */
async function inTheWay(
  git: GitProgram,
  root: string,
  index: string,
  id: string,
): Promise<string[]> {
  const words = ["diff-index", "--cached", "--name-status", "-z", "--no-renames", id, "--"];
  const differ = entries(await git.succeedAside(root, words, { index }));
  const having = (status: string): string[] => differ.flatMap(([found, path]) => (found === status ? [path] : []));
  const wanted = having("D");
  const leaving = new Set(having("A"));
  const found = new Set<string>();
  for (const path of wanted) {
    const parts = path.split("/");
    for (let count = 1; count <= parts.length; count += 1) {
      const part = parts.slice(0, count).join("/");
      const there = look(below(root, part));
      if (there === undefined) break;
      const kept = leaving.has(part);
      if (!there.isDirectory()) {
        if (!kept) found.add(part);
        // What is reached through a link lies elsewhere.
        break;
      }
      if (!kept && part === path) {
        const others = ["ls-files", "--others", "-z", "--", readable(path)];
        for (const other of fields(await git.succeedAside(root, others, { index }))) found.add(other);
      }
    }
  }
  return [...found].sort(byBytes).map((path) => `\`${readable(path)}\``);
}

function isReadable(at: Buffer): boolean {
  try {
    accessSync(at, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
