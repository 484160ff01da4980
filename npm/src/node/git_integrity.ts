/**
 * What an agent may have written into the folder of git, and git believes: objects with other content
 * than their ids say, and links through which git would write elsewhere.
 */

import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../failure.js";
import type { GitProgram } from "./git_program.js";

/** Commands that write to the folder of git. */
const WRITES = new Set([
  "branch",
  "fetch",
  "merge",
  "notes",
  "push",
  "read-tree",
  "reset",
  "stash",
  "switch",
  "symbolic-ref",
  "update-index",
  "update-ref",
  "worktree",
]);

/** What git writes by name at the top of its folder. */
const WRITTEN = [
  "HEAD",
  "index",
  "packed-refs",
  "logs",
  "refs",
  "FETCH_HEAD",
  "ORIG_HEAD",
  "COMMIT_EDITMSG",
  "MERGE_MSG",
];

/** Most bytes of objects that are read at once. */
const AT_ONCE_BYTES = 32 * 1024 * 1024;

/** Refuses a command that would write through a link in the folder of git around `cwd`. */
export function demandNoLinks(cwd: string, args: string[]): void {
  if (!WRITES.has(args[0] ?? "")) return;
  const ahead = gitFolders(cwd).flatMap((folder) => WRITTEN.map((name) => join(folder, name)));
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) {
      const what = "is a link, through which git would write elsewhere";
      throw new Failure("conflict", `\`${path}\` ${what}; look at it and remove it, then try again`);
    }
    if (found?.isDirectory() === true) {
      const folder = path;
      ahead.push(...readdirSync(folder).map((name) => join(folder, name)));
    }
  }
}

/** The checkout's own folder of git and the one that all worktrees share. */
function gitFolders(cwd: string): string[] {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const git = join(folder, ".git");
    const found = statSync(git, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return [git];
    const named = found?.isFile() === true ? /^gitdir:(.*)/.exec(readFileSync(git, "utf8")) : null;
    if (named !== null) {
      const own = resolve(folder, (named[1] ?? "").trim());
      const common = join(own, "commondir");
      return existsSync(common) ? [own, resolve(own, readFileSync(common, "utf8").trim())] : [own];
    }
    if (dirname(folder) === folder) return [cwd];
  }
}

/**
 * Compares every object of `commit`, and of the commits since `base`, with its id. Git itself does
 * not when it checks out a file.
 */
export async function demandIntact(
  git: GitProgram,
  cwd: string,
  commit: string,
  base?: string,
): Promise<void> {
  const since = base === undefined ? "" : String(await git.succeedIsolated(cwd, ["rev-list", commit, `^${base}`]));
  const list = ["rev-list", "--objects", "--no-walk", "--missing=allow-any", "--stdin"];
  const listed = String(await git.succeedIsolated(cwd, list, { input: `${commit}\n${since}` }));
  const objects = listed.split("\n").flatMap((text) => {
    const [id = "", ...path] = text.split(" ");
    return id === "" ? [] : [{ id, path: path.join(" ") }];
  });
  const input = objects.map(({ id }) => `${id}\n`).join("");
  const check = String(await git.succeedIsolated(cwd, ["cat-file", "--batch-check"], { input }));
  const sizes = check.split("\n").map((text) => Number(text.split(" ")[2] ?? NaN));
  let part: typeof objects = [];
  let bytes = 0;
  for (const [at, object] of objects.entries()) {
    const size = sizes[at] ?? NaN;
    // What is missing here was missing before: a partial clone.
    if (Number.isNaN(size)) continue;
    if (bytes > 0 && bytes + size > AT_ONCE_BYTES) {
      await demandIds(git, cwd, part, bytes);
      part = [];
      bytes = 0;
    }
    bytes += size;
    part.push(object);
  }
  await demandIds(git, cwd, part, bytes);
}

async function demandIds(
  git: GitProgram,
  cwd: string,
  objects: { id: string; path: string }[],
  bytes: number,
): Promise<void> {
  const input = objects.map(({ id }) => `${id}\n`).join("");
  // A line of an id, a kind and a size before each, and an end of line after it.
  const limitBytes = bytes + 128 * objects.length;
  const { stdout, stderr } = await git.queryIsolated(cwd, ["cat-file", "--batch"], { input, limitBytes });
  let at = 0;
  for (const { id, path } of objects) {
    const end = stdout.indexOf("\n", at);
    const [, kind = "", size = ""] = stdout.toString("latin1", at, Math.max(at, end)).split(" ");
    const content = stdout.subarray(end + 1, end + 1 + Number(size));
    const hash = createHash(id.length === 64 ? "sha256" : "sha1");
    hash.update(`${kind} ${content.length}\0`).update(content);
    if (end < 0 || hash.digest("hex") !== id) {
      const where = path === "" ? "" : ` (\`${path}\`)`;
      const said = stderr.trimEnd() === "" ? "" : `: ${stderr.trimEnd()}`;
      throw new Failure(
        "conflict",
        `the object ${id}${where} in the repository of \`${cwd}\` has other content than its id says, so it ` +
          `is not what was verified${said}; \`git fsck\` lists such objects`,
      );
    }
    at = end + 1 + content.length + 1;
  }
}
