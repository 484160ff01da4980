/** What git says is in its way, as failures that say where, and what to do. */

import { Failure } from "../failure.js";

/** Git does not record which process made a lock. */
const STALE =
  "is there: another git is running, or a killed one left it; when no git runs in this " +
  "repository, remove that file";

/**
 * The failure that `said` is about, when it is one that a person can fix. `said` comes from git
 * in the C locale, at work in `cwd`.
 */
export function named(said: string, cwd: string): Failure | undefined {
  const lock = lockIn(said);
  if (lock !== undefined) return lock;
  const config = /could not lock config file (.+?): File exists/s.exec(said)?.[1];
  if (config !== undefined) return locked(`\`${config}.lock\` in \`${cwd}\``);
  if (said.includes("cannot lock references")) {
    return locked(`\`reftable/tables.list.lock\` of the repository in \`${cwd}\``);
  }
  if (/Please tell me who you are|empty ident name|unable to auto-detect email/.test(said)) {
    return new Failure(
      "invalid",
      `git in \`${cwd}\` does not know who commits; tell it: git config --global user.name ` +
        "NAME, git config --global user.email ADDRESS",
    );
  }
  if (!said.includes("detected dubious ownership")) return undefined;
  return ofAnotherUser(/detected dubious ownership[^\n]* at '(.*)'\n/.exec(said)?.[1] ?? cwd);
}

/** The failure about a lock that git found in its way, where `said` is about one. */
export function lockIn(said: string): Failure | undefined {
  // The name may contain a quote; a lock's name ends like this.
  const lock = /Unable to create '(.+?\.lock)': File exists/s.exec(said)?.[1];
  return lock === undefined ? undefined : locked(`\`${lock}\``);
}

/** What was to be undone after `failure` could not be undone, because of `why`. */
export function left(failure: Failure, root: string, why: Failure): Failure {
  const rest = `\`${root}\` was left as it is: ${why.message}`;
  return new Failure(failure.kind, `${failure.message}; and ${rest}`);
}

/** What `lock` protects cannot be changed until its owner, who may be dead, removes it. */
export function locked(lock: string): Failure {
  return new Failure("busy", `${lock} ${STALE}`);
}

/** Git does not open what somebody else could have prepared. */
function ofAnotherUser(top: string): Failure {
  return new Failure(
    "denied",
    `the repository around \`${top}\` belongs to another user; if you trust it: ` +
      `git config --global --add safe.directory ${top}`,
  );
}
