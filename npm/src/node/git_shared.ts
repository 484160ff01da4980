/**
 * Data that machines exchange through a remote repository: files in separate commits, and refs that
 * change together or not at all.
 */

import { Failure } from "../failure.js";
import type { NamedCheckpoint, RefUpdate } from "../vocabulary.js";
import { CHECKPOINTS, namedBelow } from "./git_checkpoint.js";
import { type Answer, type GitAsked, type GitProgram, line, untilNul } from "./git_program.js";
import { demandRemote, hookRefusal, remoteFailure, refPushFailure } from "./git_remote.js";

/** Makes a commit of these files. */
export async function keepFiles(git: GitProgram, cwd: string, made: GitAsked<"keep_files">): Promise<string> {
  const entries: string[] = [];
  for (const { name, bytes } of made.files) {
    const words = ["hash-object", "-w", "--stdin", "--no-filters"];
    const id = line(await git.succeedIsolated(cwd, words, { input: Buffer.from(bytes) }));
    entries.push(`100644 blob ${id}\t${name}\0`);
  }
  const tree = line(await git.succeedIsolated(cwd, ["mktree", "-z"], { input: entries.join("") }));
  const parent = made.parent === null ? [] : ["-p", made.parent];
  const words = ["commit-tree", "--no-gpg-sign", ...parent, "-F", "-", tree];
  const committed = { input: made.message, committedMs: made.at_ms };
  const id = line(await git.succeedIsolated(cwd, words, committed));
  if (made.name !== null) {
    await git.succeedIsolated(cwd, ["update-ref", "--no-deref", `${CHECKPOINTS}${made.name}`, id]);
  }
  return id;
}

/** Reads a file of a commit. */
export async function readKept(
  git: GitProgram,
  cwd: string,
  { commit: id, name, limit_bytes: limitBytes }: GitAsked<"read_kept">,
): Promise<Uint8Array> {
  const words = ["ls-tree", "-z", "--full-tree", id, "--", name];
  const [entry] = untilNul(await git.succeedIsolated(cwd, words));
  if (entry === undefined) throw new Failure("not_found", `there is no \`${name}\` in ${id}`);
  const blob = /^100(?:644|755) blob ([0-9a-f]+)\t/.exec(entry)?.[1];
  if (blob === undefined) throw new Failure("invalid", `\`${name}\` in ${id} is not a file`);
  return git.succeedIsolated(cwd, ["cat-file", "blob", blob], { limitBytes });
}

/** Changes refs of a remote repository if each has the expected value. */
export async function pushRefs(git: GitProgram, cwd: string, { remote, updates }: GitAsked<"push_refs">): Promise<void> {
  await demandRemote(git, cwd, remote);
  const plain = ["--no-follow-tags", "--no-signed", "--recurse-submodules=no"];
  const leases = updates.map(
    ({ name, expected }) => `--force-with-lease=${CHECKPOINTS}${name}:${expected ?? ""}`,
  );
  const specs = updates.map(({ name, commit }) => `${commit ?? ""}:${CHECKPOINTS}${name}`);
  const words = ["push", "--porcelain", "--atomic", ...plain, ...leases, "--", remote, ...specs];
  const failure = await pushing(git, cwd, remote, words);
  if (failure === undefined) return;
  // The refs of the remote decide: servers word a race differently, and a connection may end after the
  // change.
  const found = await remoteRefs(git.uninterruptible(), cwd, remote, updates).catch(() => undefined);
  if (found === undefined) throw failure;
  demandPushed(remote, updates, found, failure);
}

/** Why a push failed; `undefined` after a success. */
async function pushing(
  git: GitProgram,
  cwd: string,
  remote: string,
  words: string[],
): Promise<Failure | undefined> {
  let answer: Answer;
  try {
    answer = await git.runWithHooks(cwd, words);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "interrupted") throw error;
    return error;
  }
  if (answer.exit === 0) return undefined;
  const refusal = await hookRefusal(git, cwd, answer);
  if (refusal !== undefined) throw refusal;
  return refPushFailure(remote, answer);
}

/** The commit of each ref in a remote repository. */
async function remoteRefs(
  git: GitProgram,
  cwd: string,
  remote: string,
  updates: RefUpdate[],
): Promise<(string | null)[]> {
  const names = updates.map(({ name }) => `${CHECKPOINTS}${name}`);
  const listed = line(await git.succeed(cwd, ["ls-remote", "--", remote, ...names])).split("\n");
  const entries = listed.map((entry) => entry.split("\t"));
  return names.map((name) => entries.find(([, found]) => found === name)?.[0] ?? null);
}

/** Throws the failure of a push, unless the remote has the wanted refs all the same. */
function demandPushed(
  remote: string,
  updates: RefUpdate[],
  found: (string | null)[],
  failure: Failure,
): void {
  if (updates.every(({ commit }, at) => commit === found[at])) return;
  const at = updates.findIndex(({ expected }, position) => expected !== found[position]);
  const update = updates[at];
  if (update === undefined) throw failure;
  const { name, expected } = update;
  throw new Failure(
    "conflict",
    `\`${CHECKPOINTS}${name}\` of \`${remote}\` names ${found[at] ?? "nothing"}, expected ` +
      `${expected ?? "nothing"}: another machine changed it; nothing was pushed`,
  );
}

/** Fetches the refs below a prefix from a remote repository. */
export async function fetchRefs(
  git: GitProgram,
  cwd: string,
  { remote, prefix }: GitAsked<"fetch_refs">,
): Promise<NamedCheckpoint[]> {
  await demandRemote(git, cwd, remote);
  const into = `${CHECKPOINTS}${prefix}/fetched/${remote}/`;
  const plain = ["--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-filter"];
  const refspec = `+${CHECKPOINTS}${prefix}/*:${into}*`;
  const words = ["fetch", "--quiet", ...plain, "--prune", "--refmap=", "--", remote, refspec];
  const answer = await git.run(cwd, words);
  if (answer.exit !== 0) throw remoteFailure(remote, answer);
  return namedBelow(git, cwd, into);
}
