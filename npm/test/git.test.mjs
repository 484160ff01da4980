// The Node host with real repositories, where a mistake could lose work.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { NodeHost } from "../dist/index.js";
import { git as gitOf } from "./support/effects.mjs";
import * as workspace from "./support/workspace.mjs";

/** Object formats of a repository. */
const KINDS = { "SHA-1": [], "SHA-256": ["--object-format=sha256"] };

/** A repository `repo` with one commit on `main`, and a host that works in it. */
function place(t, init = []) {
  const top = workspace.folder(t);
  const env = workspace.environment(top, { GIT_CONFIG_GLOBAL: "/dev/null" });
  const git = (where, ...words) =>
    execFileSync("git", words, { cwd: join(top, where), env, stdio: "pipe", encoding: "utf8" }).trimEnd();
  const commit = (file, text) => {
    workspace.write(join(top, "repo"), { [file]: text });
    git("repo", "add", "--all");
    git("repo", "commit", "--quiet", "--message", "change");
  };
  git(".", "init", "--quiet", "--initial-branch=main", ...init, "repo");
  git("repo", "config", "user.name", "A");
  git("repo", "config", "user.email", "a@example.org");
  commit("file.txt", "one\n");
  const cwd = join(top, "repo");
  const host = new NodeHost({ cwd, attended: false });
  return { top, cwd, git: (...words) => git("repo", ...words), at: git, commit, host: gitOf(host, cwd) };
}

const merge = (place, branch, into) =>
  place.host.merge({ branch, commit: place.git("rev-parse", `refs/heads/${branch}`), into });

for (const [kind, init] of Object.entries(KINDS)) {
  test(`a merge does not disturb the person's checkout (${kind})`, async (t) => {
    const here = place(t, init);
    here.git("switch", "--quiet", "--create", "hotl/x");
    here.commit("work.txt", "work\n");
    // A tag of the same name must not be used.
    here.git("tag", "hotl/x", "main");
    here.git("switch", "--quiet", "--create", "third", "main");
    await merge(here, "hotl/x", "main");
    assert.equal(here.git("branch", "--show-current"), "third");
    assert.equal(here.git("rev-parse", "main^2"), here.git("rev-parse", "refs/heads/hotl/x"));
    const head = here.git("rev-parse", "main");
    await merge(here, "hotl/x", "main");
    assert.equal(here.git("rev-parse", "main"), head, "again there is nothing to merge");
    here.git("switch", "--quiet", "hotl/x");
    await merge(here, "hotl/x", "main");
    assert.equal(here.git("branch", "--show-current"), "main", "the person continues from the result");
  });

  test(`a merge with conflicts leaves everything as it was (${kind})`, async (t) => {
    const here = place(t, init);
    here.git("switch", "--quiet", "--create", "x");
    here.commit("file.txt", "theirs\n");
    here.commit("目录/a b.txt", "theirs\n");
    here.git("switch", "--quiet", "main");
    here.commit("file.txt", "ours\n");
    here.commit("目录/a b.txt", "ours\n");
    here.git("switch", "--quiet", "--detach");
    workspace.write(here.cwd, { "untracked.txt": "mine\n" });
    const before = here.git("for-each-ref");
    const message = "`x` and `main` changed the same lines of `file.txt`, `目录/a b.txt`";
    await assert.rejects(merge(here, "x", "main"), { kind: "conflict", message });
    assert.equal(here.git("for-each-ref"), before);
    assert.equal(here.git("branch", "--show-current"), "");
    assert.equal(here.git("status", "--porcelain"), "?? untracked.txt");
  });

  test(`a merge base says whether a commit is part of a branch (${kind})`, async (t) => {
    const here = place(t, init);
    const first = here.git("rev-parse", "HEAD");
    here.git("switch", "--quiet", "--create", "x");
    here.commit("file.txt", "two\n");
    const second = here.git("rev-parse", "HEAD");
    const unknown = "0123456789".repeat(7).slice(0, first.length);
    for (const [commit, branch, base] of [
      [first, "x", first],
      [second, "x", second],
      [second, "main", first],
      [second, "nowhere", null],
      [unknown, "main", null],
    ]) {
      assert.equal((await here.host.merge_base({ commit, branch })).commit, base);
    }
  });

  test(`a push sets the upstream, never forces and asks the hook (${kind})`, async (t) => {
    const here = place(t, init);
    const push = (branch) => here.host.push({ remote: "origin", branch });
    await assert.rejects(push("main"), { kind: "not_found", message: /configured: none/ });
    here.at(".", "init", "--quiet", "--bare", ...init, "remote.git");
    here.git("remote", "add", "origin", "../remote.git");
    here.git("branch", "hotl/x");
    const remote = async (branch) => (await here.host.remote_branch({ remote: "origin", branch })).commit;
    assert.equal(await remote("hotl/x"), null);
    await push("hotl/x");
    assert.equal(await remote("hotl/x"), here.git("rev-parse", "hotl/x"));
    assert.equal(await remote("x"), null, "a longer name is another branch");
    assert.equal(here.git("rev-parse", "--abbrev-ref", "hotl/x@{upstream}"), "origin/hotl/x");
    here.git("switch", "--quiet", "hotl/x");
    here.git("commit", "--quiet", "--amend", "--message", "another");
    await assert.rejects(push("hotl/x"), { kind: "conflict" });
    const hook = "hooks/pre-push";
    workspace.write(join(here.cwd, ".git"), { [hook]: "#!/bin/sh\necho no secrets >&2\nexit 1\n" });
    chmodSync(join(here.cwd, ".git", hook), 0o755);
    await assert.rejects(push("main"), { message: /no secrets/ });
    assert.equal(await remote("main"), null);
  });
}

test("a branch that moved or a merge under way is not merged", async (t) => {
  const here = place(t);
  const old = here.git("rev-parse", "main");
  here.git("switch", "--quiet", "--create", "x");
  here.commit("file.txt", "two\n");
  here.git("switch", "--quiet", "main");
  await assert.rejects(here.host.merge({ branch: "x", commit: old, into: "main" }), { kind: "conflict", message: /^branch `x` is at / });
  here.git("merge", "--quiet", "--no-ff", "--no-commit", "x");
  await assert.rejects(merge(here, "x", "main"), { kind: "conflict", message: /in the middle of a merge/ });
  assert.ok(existsSync(join(here.cwd, ".git/MERGE_HEAD")), "the merge is not ours");
});

test("only the hook of a push runs", async (t) => {
  const here = place(t);
  for (const name of ["post-checkout", "pre-merge-commit", "post-merge", "commit-msg", "prepare-commit-msg"]) {
    workspace.write(join(here.cwd, ".git"), { [`hooks/${name}`]: "#!/bin/sh\ntouch ../ran\nexit 1\n" });
    chmodSync(join(here.cwd, `.git/hooks/${name}`), 0o755);
  }
  await here.host.switch({ branch: "x", create: true });
  here.git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--allow-empty", "--message", "x");
  await here.host.create_worktree({ path: join(here.top, "tree"), branch: "y", create_at: here.git("rev-parse", "main") });
  await merge(here, "x", "main");
  assert.ok(!existsSync(join(here.top, "ran")));
});

test("git gets no commit name but an id", async (t) => {
  const here = place(t);
  for (const id of ["--upload-pack=touch x", "HEAD", "main", "", "a1", "a\n"]) {
    const acts = [
      () => here.host.merge({ branch: "main", commit: id, into: "main" }),
      () => here.host.merge_base({ commit: id, branch: "main" }),
    ];
    for (const act of acts) await assert.rejects(act, { kind: "invalid" }, `${act} ${id}`);
  }
});

/** The request for a checkpoint of `here`. */
const made = (here, name, more = {}) => ({
  index: join(here.top, "state/index"),
  name,
  message: "kept\n",
  parent: null,
  programs: null,
  at_ms: 1_774_000_000_000,
  limit_bytes: 1000,
  ...more,
});

for (const [kind, init] of Object.entries(KINDS)) {
  test(`a checkpoint holds the files of a checkout, and restores them (${kind})`, async (t) => {
    const here = place(t, init);
    here.commit("gone.txt", "x\n");
    workspace.write(here.cwd, {
      ".gitignore": "*.log\n",
      "x.log": "",
      ".hotl/state/x.json": "{}",
      "file.txt": "two\n",
      "目录/new\nfile.txt": "new\n",
      "run.sh": "#!/bin/sh\n",
    });
    chmodSync(join(here.cwd, "run.sh"), 0o755);
    symlinkSync("nowhere", join(here.cwd, "link"));
    rmSync(join(here.cwd, "gone.txt"));
    const questions = [
      ["for-each-ref", "refs/heads"],
      ["reflog"],
      ["ls-files", "--stage", "--debug"],
      ["--no-optional-locks", "status", "--short"],
    ];
    const untouched = () => questions.map((words) => here.git(...words)).join("\n--\n");
    const before = untouched();
    const kept = await here.host.checkpoint(made(here, "r/0"));
    assert.equal(untouched(), before);
    assert.deepEqual(kept.left_out, []);
    assert.equal(
      here.git("ls-tree", "-rz", kept.tree).replaceAll(/ blob [0-9a-f]+\t/g, " "),
      "100644 .gitignore\0" +
        "100644 file.txt\0" +
        "120000 link\0" +
        "100755 run.sh\0" +
        "100644 目录/new\nfile.txt\0",
    );
    assert.equal(here.git("rev-parse", "refs/onloop/r/0^"), here.git("rev-parse", "HEAD"));
    const found = [{ name: "r/0", commit: kept.commit, at_ms: 1_774_000_000_000 }];
    assert.deepEqual((await here.host.checkpoints()).checkpoints, found);
    const index = join(here.top, "state/index");
    const head = here.git("rev-parse", "HEAD");
    await here.host.restore({ index, commit: head, paths: [], programs: kept.programs });
    assert.equal(readFileSync(join(here.cwd, "file.txt"), "utf8"), "one\n");
    assert.ok(!existsSync(join(here.cwd, "目录")));
    await here.host.restore({ index, commit: kept.commit, paths: [], programs: null });
    const more = { parent: kept.commit, programs: kept.programs };
    const again = await here.host.checkpoint(made(here, "r/1-1", more));
    assert.equal(again.tree, kept.tree);
    const ends = { from: head, to: kept.commit, stat: false, paths: [], limit_bytes: 10_000 };
    const { bytes: patch } = await here.host.diff(ends);
    assert.match(Buffer.from(patch).toString(), /-one\n\+two\n/);
    const short = here.host.diff({ ...ends, stat: true, limit_bytes: 10 });
    await assert.rejects(short, { kind: "too_large" });
    const missing = "1".repeat(head.length);
    await assert.rejects(here.host.diff({ ...ends, to: missing }), {
      kind: "not_found",
      message: `commit ${missing} is not in the repository around \`${here.cwd}\``,
    });
    const changed = [".gitignore", "file.txt", "gone.txt", "link", "run.sh", "目录/new\nfile.txt"];
    assert.deepEqual((await here.host.changed_paths({ from: head, to: kept.commit })).names, changed);
    const other = here.host.forget_checkpoint({ name: "r/0", commit: head });
    await assert.rejects(other, { kind: "conflict" });
    await here.host.forget_checkpoint({ name: "r/0", commit: kept.commit });
    assert.deepEqual((await here.host.checkpoints()).checkpoints.map(({ name }) => name), ["r/1-1"]);
  });
}

test("a stale lock in a remote is named", async (t) => {
  const here = place(t);
  const hub = join(here.top, "hub.git");
  here.git("init", "--quiet", "--bare", hub);
  here.git("remote", "add", "origin", hub);
  workspace.write(hub, { "refs/onloop/r/a.lock": "" });
  const updates = [{ name: "r/a", expected: null, commit: here.git("rev-parse", "HEAD") }];
  const first =
    `\`origin\` did not take it: \`${hub}/./refs/onloop/r/a.lock\` is there: another git is ` +
    "running, or a killed one left it; when no git runs in this repository, remove that file\n";
  await assert.rejects(here.host.push_refs({ remote: "origin", updates }), ({ kind, message }) => {
    assert.equal(kind, "denied");
    assert.equal(message.slice(0, first.length), first);
    return true;
  });
  rmSync(join(hub, "refs/onloop/r/a.lock"));
  await here.host.push_refs({ remote: "origin", updates });
  assert.equal(here.git("ls-remote", "origin"), `${updates[0].commit}\trefs/onloop/r/a`);
});

test("a checkpoint becomes the next commit of its branch", async (t) => {
  const here = place(t);
  const head = here.git("rev-parse", "HEAD");
  workspace.write(here.cwd, { "work.txt": "work\n", "plan.md": "plan\n" });
  const { commit: kept } = await here.host.checkpoint(made(here, "r/1-1"));
  const index = join(here.top, "state/index");
  const wanted = { index, branch: "main", head, kept, without: ["plan.md"], message: "m\n" };
  const elsewhere = here.host.commit_kept({ ...wanted, head: kept });
  await assert.rejects(elsewhere, { kind: "conflict" });
  const { commit: id } = await here.host.commit_kept(wanted);
  assert.equal(here.git("rev-parse", "main"), id);
  assert.equal(here.git("log", "-1", "--format=%an %P %s"), `A ${head} m`);
  assert.equal(here.git("status", "--porcelain"), "?? plan.md");
  assert.equal((await here.host.commit_kept({ ...wanted, head: id })).commit, id);
});

test("a checkpoint names files it leaves out, and a restore keeps unsaved files", async (t) => {
  const here = place(t);
  here.git("config", "filter.length.clean", "wc -c");
  const large = "x".repeat(1001);
  workspace.write(here.cwd, { ".gitattributes": "*.dat filter=length\n", "large.bin": large });
  workspace.write(here.cwd, { "large.dat": large, "a/b.txt": "b\n" });
  here.at("repo", "init", "--quiet", "empty");
  const first = await here.host.checkpoint(made(here, "r/0"));
  assert.deepEqual(first.left_out, [
    { path: "empty", why: "no_commit" },
    { path: "large.bin", why: "too_large" },
  ]);
  const digest = createHash("sha256").update("filter.length.clean\nwc -c\0").digest("hex");
  assert.equal(first.programs, `${digest}+`, "the same in every host");
  rmSync(join(here.cwd, "a"), { recursive: true });
  workspace.write(here.cwd, { ".gitignore": "/a\n" });
  await here.host.checkpoint(made(here, "r/1-1", { parent: first.commit }));
  workspace.write(here.cwd, { a: "an ignored file\n" });
  const back = here.host.restore({ index: join(here.top, "state/index"), commit: first.commit, paths: [], programs: null });
  const message = "nothing was changed; no checkpoint has `a`";
  await assert.rejects(back, { kind: "conflict", message });
  here.git("config", "filter.trap.clean", "touch sprung");
  workspace.write(here.cwd, { ".gitattributes": "* filter=trap\n" });
  const trapped = here.host.checkpoint(made(here, "r/2-1", { programs: first.programs }));
  await assert.rejects(trapped, { kind: "denied", message: /`filter.trap.clean`/ });
  assert.ok(!existsSync(join(here.cwd, "sprung")));
});

test("locks that block git are named", async (t) => {
  const here = place(t);
  const stale =
    "is there: another git is running, or a killed one left it; when no git runs in this " +
    "repository, remove that file";
  const locked = async (name, act) => {
    const path = join(here.cwd, ".git", name);
    workspace.write(join(here.cwd, ".git"), { [name]: "" });
    await assert.rejects(act, { kind: "busy", message: `\`${path}\` ${stale}` });
    rmSync(path);
  };
  here.git("branch", "x");
  here.git("pack-refs", "--all");
  await locked("index.lock", () => merge(here, "x", "main"));
  await locked("refs/heads/main.lock", () => merge(here, "x", "main"));
  await locked("HEAD.lock", () => here.host.switch({ branch: "x", create: false }));
  await locked("refs/heads/x.lock", () => here.host.delete_branch({ branch: "x" }));
  await locked("packed-refs.lock", () => here.host.delete_branch({ branch: "x" }));
  assert.equal(here.git("status", "--porcelain"), "");
  assert.equal(here.git("branch", "--format=%(refname:short)"), "main\nx");
  here.git("remote", "add", "origin", "../nowhere.git");
  await assert.rejects(here.host.remote_branch({ remote: "origin", branch: "x" }), {
    kind: "closed",
    message: "`origin` does not answer: '../nowhere.git' does not appear to be a git repository",
  });
});

test("the next removal finishes an interrupted one", async (t) => {
  const here = place(t);
  const path = join(here.top, "tree");
  await here.host.create_worktree({ path, branch: "x", create_at: here.git("rev-parse", "main") });
  const rest = join(here.top, ".onloop-removing-tree");
  renameSync(path, rest);
  await here.host.remove_worktree({ path });
  assert.ok(!existsSync(rest));
  assert.equal(here.git("worktree", "list", "--porcelain").match(/^worktree /gm).length, 1);
  workspace.write(rest, { "left.txt": "" });
  await assert.rejects(here.host.remove_worktree({ path }), { kind: "not_found" });
  assert.ok(!existsSync(rest), "also where git has forgotten it");
});

test("a killed merge is made by the next one, and changes of a person since are kept", async (t) => {
  const here = place(t);
  here.commit("gone.txt", "old\n");
  here.commit("part.txt", "old\n");
  here.git("switch", "--quiet", "--create", "x");
  for (const file of ["file.txt", "gone.txt", "part.txt", "b/new.txt"]) here.commit(file, "a new text\n");
  const tip = here.git("rev-parse", "x");
  here.git("switch", "--quiet", "main");
  workspace.write(here.cwd, {
    ".git/onloop-merge": `${tip}\nrefs/heads/main\n`,
    ".git/index.lock": "",
    ".git/refs/heads/main.lock": "",
    "file.txt": "mine\n",
    "part.txt": "a new",
    "b/new.txt": "a new text\n",
  });
  rmSync(join(here.cwd, "gone.txt"));
  await assert.rejects(merge(here, "x", "main"), /and `file.txt` has content that git did not/);
  assert.equal(readFileSync(join(here.cwd, "file.txt"), "utf8"), "mine\n");
  workspace.write(here.cwd, { "file.txt": "one\n" });
  await merge(here, "x", "main");
  assert.equal(here.git("rev-parse", "main^2"), tip);
  assert.equal(here.git("status", "--porcelain"), "");
  assert.equal(readFileSync(join(here.cwd, "part.txt"), "utf8"), "a new text\n");
  assert.ok(!existsSync(join(here.cwd, ".git/onloop-merge")));
});

test("a file that git does not track is not overwritten", async (t) => {
  const here = place(t);
  here.commit(".gitignore", "secret.txt\n");
  here.git("switch", "--quiet", "--create", "x");
  workspace.write(here.cwd, { "secret.txt": "theirs\n" });
  here.git("add", "--force", "secret.txt");
  here.commit("file.txt", "two\n");
  here.git("switch", "--quiet", "main");
  workspace.write(here.cwd, { "secret.txt": "mine\n" });
  await assert.rejects(merge(here, "x", "main"), /git does not track `secret.txt`/);
  assert.equal(readFileSync(join(here.cwd, "secret.txt"), "utf8"), "mine\n");
  assert.equal(readFileSync(join(here.cwd, "file.txt"), "utf8"), "one\n");
});
