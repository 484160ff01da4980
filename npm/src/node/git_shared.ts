/**
 * What several machines share: files in commits of their own, and names of commits in a remote
 * repository that change together or not at all.
 */

import { Failure } from "../failure.js";
import type { NamedCheckpoint, RefUpdate } from "../vocabulary.js";
import { CHECKPOINTS, namedBelow } from "./git_checkpoint.js";
import { type Answer, type GitAsked, type GitProgram, line, untilNul } from "./git_program.js";
import { demandRemote, refusedByHook, unanswered, unpushedRefs } from "./git_remote.js";

/** Makes a commit that holds these files. */
export async function keepFiles(git: GitProgram, cwd: string, made: GitAsked<"keep_files">): Promise<string> {
  const entries: string[] = [];
  for (const { name, bytes } of made.files) {
    const words = ["hash-object", "-w", "--stdin", "--no-filters"];
    const id = line(await git.succeedAside(cwd, words, { input: Buffer.from(bytes) }));
    entries.push(`100644 blob ${id}\t${name}\0`);
  }
  const tree = line(await git.succeedAside(cwd, ["mktree", "-z"], { input: entries.join("") }));
  const parent = made.parent === null ? [] : ["-p", made.parent];
  const words = ["commit-tree", "--no-gpg-sign", ...parent, "-F", "-", tree];
  const committed = { input: made.message, committedMs: made.at_ms };
  return line(await git.succeedAside(cwd, words, committed));
}

/** The content of a file that a commit holds. */
export async function readKept(
  git: GitProgram,
  cwd: string,
  { commit: id, name, limit_bytes: limitBytes }: GitAsked<"read_kept">,
): Promise<Uint8Array> {
  const words = ["ls-tree", "-z", "--full-tree", id, "--", name];
  const [entry] = untilNul(await git.succeedAside(cwd, words));
  if (entry === undefined) throw new Failure("not_found", `there is no \`${name}\` in ${id}`);
  const blob = /^100(?:644|755) blob ([0-9a-f]+)\t/.exec(entry)?.[1];
  if (blob === undefined) throw new Failure("invalid", `\`${name}\` in ${id} is not a file`);
  return git.succeedAside(cwd, ["cat-file", "blob", blob], { limitBytes });
}

/** Changes names in a remote repository, if each names there what is expected. */
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
  // The remote knows what came of it: its own words for a race differ from server to server, and
  // a connection may end after the deed.
  const found = await remoteRefs(git.undisturbed(), cwd, remote, updates).catch(() => undefined);
  if (found === undefined) throw failure;
  cameOfIt(remote, updates, found, failure);
}

/** Why a push failed; undefined: it did not. */
async function pushing(
  git: GitProgram,
  cwd: string,
  remote: string,
  words: string[],
): Promise<Failure | undefined> {
  let answer: Answer;
  try {
    answer = await git.actWithHooks(cwd, words);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "interrupted") throw error;
    return error;
  }
  if (answer.exit === 0) return undefined;
  const refusal = await refusedByHook(git, cwd, answer);
  if (refusal !== undefined) throw refusal;
  return unpushedRefs(remote, answer);
}

/** What each of these names in a remote repository. */
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

/** Throws why a push failed, unless it did what it should all the same. */
function cameOfIt(
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
      `${expected ?? "nothing"}: somebody else was faster; nothing was changed there`,
  );
}

/** Brings what is below a prefix of a remote repository here. */
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
  const answer = await git.act(cwd, words);
  if (answer.exit !== 0) throw unanswered(remote, answer);
  return namedBelow(git, cwd, into);
}
