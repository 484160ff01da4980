// A hanging git is ended by its timeout or an interrupt, and leaves no process and no change.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { NodeHost } from "../dist/index.js";
import { testIf } from "./support/all.mjs";
import { git as gitOf } from "./support/effects.mjs";
import { isAlive } from "./support/process.mjs";
import * as workspace from "./support/workspace.mjs";

const ENDS = ["limit", "interrupt"];
const TO_X = { branch: "x", create: false };

/** A repository `repo` with one commit on `main`. */
function place(t) {
  const top = workspace.folder(t);
  const env = workspace.environment(top, { GIT_CONFIG_GLOBAL: "/dev/null" });
  const at = (where, ...words) =>
    execFileSync("git", words, { cwd: join(top, where), env, stdio: "pipe", encoding: "utf8" }).trimEnd();
  const cwd = join(top, "repo");
  const here = { top, cwd, at, git: (...words) => at("repo", ...words) };
  at(".", "init", "--quiet", "--initial-branch=main", "repo");
  here.git("config", "user.name", "A");
  here.git("config", "user.email", "a@example.org");
  commit(here, { "file.txt": "one\n" });
  return here;
}

function commit({ cwd, git }, files) {
  workspace.write(cwd, files);
  git("add", "--all");
  git("commit", "--quiet", "--message", "change");
}

/**
 * A script that hangs once `armed` exists, with its process id in `hung`. Otherwise it passes its input
 * through. It ignores SIGTERM.
 */
function hanging({ top }, name) {
  const path = join(top, name);
  const hang = `trap '' TERM; echo $$ >'${top}/hung'; while :; do sleep 1000; done`;
  workspace.write(top, { [name]: `#!/bin/sh\nif [ -e '${top}/armed' ]; then ${hang}; fi\nexec cat\n` });
  chmodSync(path, 0o755);
  return path;
}

/** A branch `x` that changes, creates and removes files, the last of them through a filter that hangs. */
function withHangingFilter(t) {
  const here = place(t);
  here.git("config", "filter.slow.smudge", `'${hanging(here, "slow.sh")}'`);
  here.git("config", "filter.slow.clean", "cat");
  const kept = { "gone/deep.txt": "old\n", place: "a file\n", ".gitignore": "*.log\n", "kept.txt": "as it is\n" };
  commit(here, kept);
  here.git("switch", "--quiet", "--create", "x");
  here.git("rm", "--quiet", "-r", "gone", "place");
  commit(here, {
    "file.txt": "two\n",
    "new/deep/er.txt": "new\n",
    "place/below.txt": "a folder\n",
    ".gitattributes": "*.dat filter=slow\n",
    "z.dat": "content\n",
  });
  here.git("switch", "--quiet", "main");
  workspace.write(here.cwd, { "kept.txt": "mine\n", "untracked.txt": "mine\n", "mine.log": "mine\n" });
  return here;
}

/** The state that a request may change. */
function state({ cwd, git }) {
  const said = [["for-each-ref"], ["status", "--porcelain", "--branch", "--ignored"], ["worktree", "list"]];
  const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.name.endsWith(".lock")) return [path];
    if (!entry.isFile() || path.startsWith(join(cwd, ".git/"))) return [];
    return [`${path}: ${readFileSync(path, "utf8")}`];
  });
  return [...said.map((words) => git(...words)), ...files.sort()].join("\n");
}

const pidIn = (path) => (existsSync(path) ? Number(readFileSync(path, "utf8")) : 0);

/** Performs a request in which git hangs, ends it, and checks that nothing is left; returns the message. */
async function ended({ top, cwd }, how, request) {
  workspace.write(top, { armed: "" });
  const hung = join(top, "hung");
  let failure;
  // On a busy machine git may not have hung yet.
  for (let limit = 500; pidIn(hung) === 0; limit *= 2) {
    const limits = how === "limit" ? { gitTimeoutMs: limit } : {};
    const host = new NodeHost({ cwd, attended: false, ...limits });
    const git = gitOf(host, cwd);
    const answer = request(git).then(() => assert.fail("it did not hang"), (error) => error);
    if (how === "interrupt") {
      while (pidIn(hung) === 0) await pause(5);
      host.interrupt();
    }
    failure = await answer;
    // The interrupt does not affect the next request.
    assert.ok((await git.head()).commit);
  }
  const pid = pidIn(hung);
  for (let tries = 0; isAlive(pid); tries += 1) {
    assert.ok(tries < 12_000, `process ${pid} still runs`);
    await pause(5);
  }
  rmSync(join(top, "armed"));
  rmSync(hung);
  const [kind, says] = how === "limit" ? ["other", / was ended after /] : ["interrupted", / was interrupted/];
  assert.equal(failure.kind, kind, failure.stack);
  assert.match(failure.message, says);
  return failure.message;
}

for (const how of ENDS) {
  testIf(how === "limit")(`an ended switch leaves the checkout as it was (${how})`, async (t) => {
    const here = withHangingFilter(t);
    const before = state(here);
    const said = await ended(here, how, (git) => git.switch(TO_X));
    assert.equal(state(here), before, said);
    await gitOf(new NodeHost({ cwd: here.cwd, attended: false }), here.cwd).switch(TO_X);
    assert.equal(readFileSync(join(here.cwd, "z.dat"), "utf8"), "content\n");
    assert.equal(readFileSync(join(here.cwd, "kept.txt"), "utf8"), "mine\n");
  });

  testIf(how === "interrupt")(`an ended merge leaves everything as it was (${how})`, async (t) => {
    const here = withHangingFilter(t);
    const id = here.git("rev-parse", "x");
    here.git("branch", "third");
    for (const on of ["main", "third"]) {
      here.git("switch", "--quiet", on);
      const before = state(here);
      const said = await ended(here, how, (git) => git.merge({ branch: "x", commit: id, into: "main" }));
      assert.equal(state(here), before, `${on}: ${said}`);
    }
  });

  testIf(how === "limit")(`an ended checkout of a worktree leaves nothing behind (${how})`, async (t) => {
    const here = withHangingFilter(t);
    const id = here.git("rev-parse", "x");
    const path = join(here.top, ".hotl-worktrees/repo/x");
    const before = state(here);
    for (const made of [{ branch: "x", create_at: null }, { branch: "hotl/y", create_at: id }]) {
      const said = await ended(here, how, (git) => git.create_worktree({ path, ...made }));
      assert.equal(state(here), before, said);
      assert.ok(!existsSync(join(here.top, ".hotl-worktrees")));
    }
  });

  testIf(how === "interrupt")(`hanging remotes, hooks and helpers are ended and named (${how})`, async (t) => {
    const here = place(t);
    here.at(".", "init", "--quiet", "--bare", "remote.git");
    const script = hanging(here, "slow.sh");
    hanging({ top: here.top }, "repo/.git/hooks/pre-push");
    const server = createServer((_, response) => {
      response.writeHead(401, { "www-authenticate": 'Basic realm="x"', connection: "close" }).end();
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    here.git("config", "protocol.ext.allow", "always");
    here.git("config", "credential.helper", script);
    here.git("remote", "add", "hook", "../remote.git");
    here.git("remote", "add", "silent", `ext::${script} %S`);
    here.git("remote", "add", "helper", `http://127.0.0.1:${server.address().port}/x.git`);
    const before = state(here);
    const push = (remote) => (git) => git.push({ remote, branch: "main" });
    const look = (remote) => (git) => git.remote_branch({ remote, branch: "main" });
    for (const request of [push("hook"), look("silent"), push("silent"), look("helper"), push("helper")]) {
      const said = await ended(here, how, request);
      assert.equal(state(here), before, said);
      if (process.platform === "linux") assert.match(said, /: it was waiting for `.*(slow\.sh|pre-push).*`$/);
    }
  });
}

test("a merge that cannot switch back names the branch of the checkout", async (t) => {
  const here = withHangingFilter(t);
  here.git("checkout", "--quiet", "kept.txt");
  here.git("switch", "--quiet", "--create", "work");
  commit(here, { "work.txt": "work\n" });
  here.git("switch", "--quiet", "x");
  here.git("switch", "--quiet", "--create", "third");
  const id = here.git("rev-parse", "work");
  const said = await ended(here, "interrupt", (git) => git.merge({ branch: "work", commit: id, into: "main" }));
  const begins = `\`work\` is in \`main\` now, and \`${here.cwd}\` stays on \`main\`: \`git switch `;
  assert.ok(said.startsWith(begins), said);
  assert.equal(here.git("branch", "--show-current"), "main");
  assert.equal(here.git("status", "--porcelain"), "");
});

/** The process that leads the session of another. */
const leaderOf = (pid) => Number(/\) (?:\S+ ){3}(\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))[1]);

test("a git that another process kills leaves the checkout as it was", { skip: process.platform !== "linux" }, async (t) => {
  const here = withHangingFilter(t);
  const before = state(here);
  workspace.write(here.top, { armed: "" });
  const git = gitOf(new NodeHost({ cwd: here.cwd, attended: false }), here.cwd);
  const answer = git.switch(TO_X).then(() => assert.fail("it did not hang"), (error) => error);
  while (pidIn(join(here.top, "hung")) === 0) await pause(5);
  process.kill(leaderOf(pidIn(join(here.top, "hung"))), "SIGTERM");
  const { kind, message } = await answer;
  assert.equal(kind, "unknown");
  assert.match(message, /` was ended by a signal$/);
  assert.equal(state(here), before);
});

test("a process that exits ends git without leaving its locks", async (t) => {
  const here = withHangingFilter(t);
  workspace.write(here.top, { armed: "" });
  const host = new NodeHost({ cwd: here.cwd, attended: false });
  const answer = gitOf(host, here.cwd).switch(TO_X).catch((error) => error);
  while (pidIn(join(here.top, "hung")) === 0) await pause(5);
  assert.ok(existsSync(join(here.cwd, ".git/index.lock")));
  host.abandon();
  // The process exits at this point.
  assert.ok(!existsSync(join(here.cwd, ".git/index.lock")));
  await answer;
});
