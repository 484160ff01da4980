/** Remote repositories. */

import { Failure } from "../failure.js";
import { type Answer, ask, askWithHooks, complaint, line, succeed } from "./git_program.js";

/** The commit that a branch is at in a remote repository. */
export async function remoteBranch(
  cwd: string,
  remote: string,
  branch: string,
): Promise<string | undefined> {
  await demandRemote(cwd, remote);
  const name = `refs/heads/${branch}`;
  const listed = line(await succeed(cwd, ["ls-remote", "--", remote, name]));
  // Git also lists longer names that end like this one.
  for (const entry of listed.split("\n")) {
    const [id, found] = entry.split("\t");
    if (found === name) return id;
  }
  return undefined;
}

/** Pushes a branch; never by force. */
export async function push(cwd: string, remote: string, branch: string): Promise<void> {
  await demandRemote(cwd, remote);
  const refspec = `refs/heads/${branch}:refs/heads/${branch}`;
  const words = ["push", "--porcelain", "--set-upstream", "--", remote, refspec];
  const answer = await askWithHooks(cwd, words);
  if (answer.exit !== 0) throw explain(answer);
}

/** Git would take the name of a remote that is not there for a folder. */
async function demandRemote(cwd: string, remote: string): Promise<void> {
  if ((await ask(cwd, ["remote", "get-url", "--", remote])).exit === 0) return;
  const known = line(await succeed(cwd, ["remote"])).split("\n").join(", ") || "none";
  throw new Failure("not_found", `there is no remote \`${remote}\` (configured: ${known})`);
}

function explain(answer: Answer): Failure {
  const failure = complaint(answer);
  // One line for each branch: a flag, the names, and a summary.
  const lines = answer.stdout.toString().split("\n");
  const summary = lines.find((text) => text.startsWith("!"))?.split("\t").at(-1) ?? "";
  if (summary === "") return failure;
  const rejected = summary.startsWith("[rejected]");
  const refused = summary.startsWith("[remote rejected]");
  const kind = rejected ? "conflict" : refused ? "denied" : failure.kind;
  return new Failure(kind, `${failure.message} (${summary})`);
}
