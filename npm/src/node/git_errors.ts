/** Recognizes errors of git that a person can fix, and says how. */

import { Failure } from "../failure.js";

/** Git does not record which process made a lock. */
const STALE =
  "is there: another git is running, or a killed one left it; when no git runs in this " +
  "repository, remove that file";

/** The failure for an error that a person can fix. Git printed `said` in the C locale, in `cwd`. */
export function knownError(said: string, cwd: string): Failure | undefined {
  const lock = lockError(said);
  if (lock !== undefined) return lock;
  const config = /could not lock config file (.+?): File exists/s.exec(said)?.[1];
  if (config !== undefined) return locked(`\`${config}.lock\` in \`${cwd}\``);
  if (said.includes("cannot lock references")) {
    return locked(`\`reftable/tables.list.lock\` of the repository in \`${cwd}\``);
  }
  if (/Please tell me who you are|empty ident name|unable to auto-detect email/.test(said)) {
    return new Failure("invalid", `git in \`${cwd}\` does not know who commits`, {
      text: "tell git",
      command: "git config --global user.name NAME; git config --global user.email ADDRESS",
    });
  }
  if (/failed to sign the data|load public key/.test(said)) {
    const lines = said.split("\n").map((text) => text.replace(/^(error: )+/, "").trim());
    const reason = lines.filter((text) => text !== "").at(-1) ?? "";
    return new Failure("invalid", `git in \`${cwd}\` cannot sign the commit: ${reason}`, {
      text: "correct `user.signingkey`, or sign no commit of this repository",
      command: `git -C ${shellWord(cwd)} config commit.gpgsign false`,
    });
  }
  if (said.split("\n").some((text) => text.includes("git-lfs") && text.includes("not found"))) {
    return new Failure("other", `the repository around \`${cwd}\` needs \`git-lfs\`, which is not there`, {
      text: "install Git LFS, then run the same command again",
    });
  }
  if (!said.includes("detected dubious ownership")) return undefined;
  return ofAnotherUser(/detected dubious ownership[^\n]* at '(.*)'\n/.exec(said)?.[1] ?? cwd);
}

/** A word as a shell takes it. */
export function shellWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The failure for an error about a lock file. */
export function lockError(said: string): Failure | undefined {
  // The path may contain quotes, so the match ends at the suffix.
  const lock = /Unable to create '(.+?\.lock)': File exists/s.exec(said)?.[1];
  return lock === undefined ? undefined : locked(`\`${lock}\``);
}

/** The failure of an operation whose rollback failed as well. */
export function rollbackFailed(failure: Failure, root: string, why: Failure): Failure {
  const rest = `\`${root}\` was left as it is: ${why.message}`;
  return new Failure(failure.kind, `${failure.message}; and ${rest}`);
}

/** The failure about an existing lock file, whose owner may be dead. */
export function locked(lock: string): Failure {
  return new Failure("busy", `${lock} ${STALE}`);
}

/** Git refuses repositories of other users, because their configuration could run programs. */
function ofAnotherUser(top: string): Failure {
  return new Failure("denied", `the repository around \`${top}\` belongs to another user`, {
    text: "if you trust it",
    command: `git config --global --add safe.directory ${shellWord(top)}`,
  });
}
