/** Remote repositories. */

import { existsSync } from "node:fs";
import { Failure } from "../failure.js";
import { commit } from "./git_checkout.js";
import { demandIntact } from "./git_integrity.js";
import { type Answer, type GitAsked, type GitProgram, complaint, line } from "./git_program.js";
import { lockIn } from "./git_trouble.js";

/** The commit that a branch is at in a remote repository. */
export async function remoteBranch(
  git: GitProgram,
  cwd: string,
  { remote, branch }: GitAsked<"remote_branch">,
): Promise<string | undefined> {
  await demandRemote(git, cwd, remote);
  const name = `refs/heads/${branch}`;
  const asked = await git.ask(cwd, ["ls-remote", "--", remote, name]);
  if (asked.exit !== 0) throw unreachable(remote, asked);
  const listed = line(asked.stdout);
  // Git also lists longer names that end like this one.
  for (const entry of listed.split("\n")) {
    const [id, found] = entry.split("\t");
    if (found === name) return id;
  }
  return undefined;
}

/** Pushes a branch; never by force. */
export async function push(git: GitProgram, cwd: string, { remote, branch }: GitAsked<"push">): Promise<void> {
  await demandRemote(git, cwd, remote);
  const refspec = `refs/heads/${branch}:refs/heads/${branch}`;
  const id = await commit(git, cwd, `refs/heads/${branch}`);
  if (id !== undefined) await demandIntact(git, cwd, id);
  const words = ["push", "--porcelain", "--set-upstream", "--", remote, refspec];
  const answer = await git.actWithHooks(cwd, words);
  if (answer.exit === 0) return;
  throw (await refusedByHook(git, cwd, answer)) ?? unpushed(remote, branch, answer);
}

/** Where the `pre-push` hook says no, git says nothing of its own but that it failed. */
export async function refusedByHook(
  git: GitProgram,
  cwd: string,
  answer: Answer,
): Promise<Failure | undefined> {
  const isOwn = (text: string): boolean => text.startsWith("error: failed to push some refs");
  const said = answer.stderr.trimEnd().split("\n");
  const byGit = /fatal: |error: src refspec/.test(answer.stderr) || !said.some(isOwn);
  if (byGit || answer.stdout.includes("!")) return undefined;
  const words = ["rev-parse", "--path-format=absolute", "--git-path", "hooks/pre-push"];
  const hook = line((await git.askWithHooks(cwd, words)).stdout);
  if (!existsSync(hook)) return undefined;
  const theirs = said.filter((text) => !isOwn(text)).slice(0, WARNINGS);
  const warnings = theirs.map((text) => `\n${text}`).join("");
  return new Failure("denied", `the hook \`${hook}\` refused it${warnings}`);
}

/** Git would take the name of a remote that is not there for a folder. */
export async function demandRemote(git: GitProgram, cwd: string, remote: string): Promise<void> {
  if ((await git.ask(cwd, ["remote", "get-url", "--", remote])).exit === 0) return;
  const known = line(await git.succeed(cwd, ["remote"])).split("\n").join(", ") || "none";
  throw new Failure(
    "not_found",
    `there is no remote \`${remote}\` in \`${cwd}\` (configured: ${known}); add it: ` +
      `git remote add ${remote} ADDRESS`,
  );
}

/** Most lines of what the other side has to say that are passed on. */
const WARNINGS = 10;

/**
 * Why a branch is not in the other repository. Git says one line for each branch: a flag, the
 * names, and a summary.
 */
function unpushed(remote: string, branch: string, answer: Answer): Failure {
  const lines = answer.stdout.toString().split("\n");
  const summary = lines.find((text) => text.startsWith("!"))?.split("\t").at(-1) ?? "";
  const reason = /\((.*?)\)*$/s.exec(summary)?.[1] ?? summary;
  if (summary.startsWith("[rejected]")) {
    return new Failure(
      "conflict",
      `\`${remote}\` has commits on \`${branch}\` that are not here (${reason}), and nothing is ` +
        `forced; see them: git fetch ${remote} ${branch}, git log FETCH_HEAD`,
    );
  }
  if (summary.startsWith("[remote rejected]")) {
    let message = `\`${remote}\` refused \`${branch}\` (${reason})`;
    if (reason === "shallow update not allowed") {
      message += "; this clone is shallow: git fetch --unshallow brings what is missing";
    }
    return new Failure("denied", message + theirWarnings(remote, answer));
  }
  return unanswered(remote, answer);
}

/** Why names were not changed in the other repository. */
export function unpushedRefs(remote: string, answer: Answer): Failure {
  const verdicts = answer.stdout.toString().split("\n");
  // What fails only because something else does says nothing.
  const says = (text: string): boolean =>
    text.startsWith("!") && !text.endsWith("(atomic push failed)");
  const verdict = verdicts.find(says);
  if (verdict === undefined) return unanswered(remote, answer);
  const warnings = theirWarnings(remote, answer);
  // A lock is in the way of every later push.
  const reason = lockIn(answer.stderr)?.message ?? verdict.split("\t").at(-1) ?? "";
  return new Failure("denied", `\`${remote}\` did not take it: ${reason}${warnings}`);
}

/** What the other side has to say. */
function theirWarnings(remote: string, answer: Answer): string {
  const theirs = answer.stderr
    .split("\n")
    .filter((text) => text.startsWith("remote: "))
    .map((text) => text.slice("remote: ".length).trimEnd())
    .filter((text) => text !== "");
  return theirs
    .slice(0, WARNINGS)
    .map((text) => `\n${remote}: ${text}`)
    .join("");
}

/** Why another repository did not do what it was asked. */
export function unanswered(remote: string, answer: Answer): Failure {
  if (/Could not read from remote repository|unable to access/.test(answer.stderr)) {
    return unreachable(remote, answer);
  }
  return complaint(answer);
}

/** Why another repository did not answer. */
function unreachable(remote: string, answer: Answer): Failure {
  const why = /^fatal: (.*)$/m.exec(answer.stderr)?.[1];
  if (why === undefined) return complaint(answer);
  return new Failure("closed", `\`${remote}\` does not answer: ${why}`);
}
