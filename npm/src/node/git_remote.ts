/** Reads and pushes branches of remote repositories. */

import { existsSync } from "node:fs";
import { Failure } from "../failure.js";
import { commit } from "./git_checkout.js";
import { lockError } from "./git_errors.js";
import { demandIntact } from "./git_integrity.js";
import { type Answer, type GitAsked, type GitProgram, commandFailure, line } from "./git_program.js";

/** The commit of a branch in a remote repository. */
export async function remoteBranch(
  git: GitProgram,
  cwd: string,
  { remote, branch }: GitAsked<"remote_branch">,
): Promise<string | undefined> {
  await demandRemote(git, cwd, remote);
  const name = `refs/heads/${branch}`;
  const asked = await git.query(cwd, ["ls-remote", "--", remote, name]);
  if (asked.exit !== 0) throw noAnswer(remote, asked);
  const listed = line(asked.stdout);
  // Git also lists longer names with the same end.
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
  const answer = await git.runWithHooks(cwd, words);
  if (answer.exit === 0) return;
  throw (await hookRefusal(git, cwd, answer)) ?? pushFailure(remote, branch, answer);
}

/** The refusal of the `pre-push` hook, which git reports only as a failed push. */
export async function hookRefusal(
  git: GitProgram,
  cwd: string,
  answer: Answer,
): Promise<Failure | undefined> {
  const isOwn = (text: string): boolean => text.startsWith("error: failed to push some refs");
  const said = answer.stderr.trimEnd().split("\n");
  const byGit = /fatal: |error: src refspec/.test(answer.stderr) || !said.some(isOwn);
  if (byGit || answer.stdout.includes("!")) return undefined;
  const words = ["rev-parse", "--path-format=absolute", "--git-path", "hooks/pre-push"];
  const hook = line((await git.runWithHooks(cwd, words)).stdout);
  if (!existsSync(hook)) return undefined;
  const theirs = said.filter((text) => !isOwn(text)).slice(0, WARNINGS);
  const warnings = theirs.map((text) => `\n${text}`).join("");
  return new Failure("denied", `the hook \`${hook}\` refused it${warnings}`, {
    text: "do what the hook says, then run the same command again",
  });
}

/** Throws unless the remote is configured. Git would take an unknown name for a folder. */
export async function demandRemote(git: GitProgram, cwd: string, remote: string): Promise<void> {
  if ((await git.query(cwd, ["remote", "get-url", "--", remote])).exit === 0) return;
  const known = line(await git.succeed(cwd, ["remote"])).split("\n").join(", ") || "none";
  throw new Failure(
    "not_found",
    `there is no remote \`${remote}\` in \`${cwd}\` (configured: ${known}); add it: ` +
      `git remote add ${remote} ADDRESS`,
  );
}

/** Most lines that are shown of a remote's messages. */
const WARNINGS = 10;

/** Why the remote did not take a branch. Git prints a line for each branch: a flag, the names and a summary. */
function pushFailure(remote: string, branch: string, answer: Answer): Failure {
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
      message += "; this clone is shallow, so run: git fetch --unshallow";
    }
    return new Failure("denied", message + remoteMessages(remote, answer));
  }
  return remoteFailure(remote, answer);
}

/** Why the remote did not change its refs. */
export function refPushFailure(remote: string, answer: Answer): Failure {
  const verdicts = answer.stdout.toString().split("\n");
  // Skips refs that failed only because another one did.
  const says = (text: string): boolean =>
    text.startsWith("!") && !text.endsWith("(atomic push failed)");
  const verdict = verdicts.find(says);
  if (verdict === undefined) return remoteFailure(remote, answer);
  const warnings = remoteMessages(remote, answer);
  // A stale lock blocks every later push as well.
  const reason = lockError(answer.stderr)?.message ?? verdict.split("\t").at(-1) ?? "";
  return new Failure("denied", `\`${remote}\` did not take it: ${reason}${warnings}`);
}

/** The messages of the remote. */
function remoteMessages(remote: string, answer: Answer): string {
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

/** The failure of a command that talks to a remote. */
export function remoteFailure(remote: string, answer: Answer): Failure {
  if (/Could not read from remote repository|unable to access/.test(answer.stderr)) {
    return noAnswer(remote, answer);
  }
  return commandFailure(answer);
}

/** The failure of a remote that does not answer. */
function noAnswer(remote: string, answer: Answer): Failure {
  const why = /^fatal: (.*)$/m.exec(answer.stderr)?.[1];
  if (why === undefined) return commandFailure(answer);
  return new Failure("closed", `\`${remote}\` does not answer: ${why}`);
}
