// The environment of git, and how repositories are found.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import * as workspace from "./support/workspace.mjs";

const module = pathToFileURL(join(workspace.npmFolder, "dist/index.js"));
const effects = new URL("support/effects.mjs", import.meta.url);

/** The result of `ask`, an expression with `git`, in a host of another process. */
function answer(cwd, env, ask) {
  const program = `
    import { NodeHost } from ${JSON.stringify(module)};
    import { git as gitOf } from ${JSON.stringify(effects)};
    const cwd = ${JSON.stringify(cwd)};
    const git = gitOf(new NodeHost({ cwd, attended: false }), cwd);
    const said = await (${ask}).then((value) => value ?? "nothing", ({ kind, message }) => kind);
    console.log(JSON.stringify(said));
  `;
  const words = ["--input-type=module", "--eval", program];
  return JSON.parse(execFileSync(process.execPath, words, { cwd, env, encoding: "utf8" }));
}

function repository(t) {
  const top = realpathSync(workspace.folder(t));
  const env = workspace.environment(top, { GIT_CONFIG_GLOBAL: join(top, ".gitconfig") });
  workspace.write(top, { ".gitconfig": "[user]\n\tname = A\n\temail = a@example.org\n" });
  const git = (...words) => execFileSync("git", words, { cwd: join(top, "repo"), env, stdio: "pipe" });
  mkdirSync(join(top, "repo/sub/deep"), { recursive: true });
  git("init", "--quiet", "--initial-branch=main");
  workspace.write(top, { "repo/a.txt": "hi\n" });
  git("add", ".");
  git("commit", "--quiet", "--message", "begin");
  return { top, env, git };
}

test("git does not search above a ceiling directory", (t) => {
  const { top, env } = repository(t);
  const deep = join(top, "repo/sub/deep");
  const branch = (more) => answer(deep, { ...env, ...more }, "git.survey({ branch: '' }).then(({ repository }) => repository?.branch)");
  assert.equal(branch({}), "main");
  assert.equal(branch({ GIT_CEILING_DIRECTORIES: `${top}/other:${top}/repo/sub` }), "nothing");
  // The folder itself is always searched, and a ceiling above the repository has no effect.
  assert.equal(branch({ GIT_CEILING_DIRECTORIES: `${top}:${deep}` }), "main");
});

test("a broken `.git` matters only where git searches", (t) => {
  const top = realpathSync(workspace.folder(t));
  const env = workspace.environment(top, { GIT_CONFIG_GLOBAL: "/dev/null" });
  workspace.write(top, { "tree/.git": "gitdir: /nowhere\n", "tree/sub/a.txt": "" });
  const head = (more) => answer(join(top, "tree/sub"), { ...env, ...more }, "git.head().then(({ commit }) => commit)");
  assert.equal(head({}), "invalid");
  assert.equal(head({ GIT_CEILING_DIRECTORIES: `${top}/tree` }), "nothing");
});

test("git gets the variables for logins, but none that name another repository", (t) => {
  const { top, env } = repository(t);
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  workspace.write(top, { "bin/git": `#!/bin/sh\nenv >>'${top}/seen'\nexec '${real}' "$@"\n` });
  chmodSync(join(top, "bin/git"), 0o755);
  const kept = {
    GIT_ASKPASS: "/ask",
    SSH_ASKPASS: "/ask",
    GIT_PROXY_COMMAND: "/proxy",
    GIT_SSL_NO_VERIFY: "0",
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "core.hooksPath",
    GIT_CONFIG_VALUE_0: join(top, "hooks"),
    GIT_CONFIG_KEY_1: "user.name",
    GIT_CONFIG_VALUE_1: "B",
  };
  const removed = { GIT_DIR: "/elsewhere", GIT_INDEX_FILE: "/elsewhere", GIT_WORK_TREE: "/", GIT_EDITOR: "x" };
  workspace.write(top, { "hooks/post-checkout": `#!/bin/sh\ntouch '${top}/sprung'\n` });
  chmodSync(join(top, "hooks/post-checkout"), 0o755);
  const all = { ...env, ...kept, ...removed, PATH: `${top}/bin:${env.PATH}` };
  assert.equal(answer(join(top, "repo"), all, "git.switch({ branch: 'x', create: true })").is, "done");
  const seen = readFileSync(join(top, "seen"), "utf8").split("\n");
  for (const [name, value] of Object.entries(kept)) assert.ok(seen.includes(`${name}=${value}`), name);
  for (const name of Object.keys(removed)) {
    assert.ok(!seen.some((line) => line.startsWith(`${name}=`)), name);
  }
  // Our settings override those of the environment.
  assert.throws(() => readFileSync(join(top, "sprung")), { code: "ENOENT" });
});

test("files of a worktree follow the user's attributes", (t) => {
  const { top, env, git } = repository(t);
  git("config", "--global", "filter.loud.smudge", "tr a-z A-Z");
  workspace.write(top, { ".config/git/attributes": "*.txt filter=loud\n" });
  const made = answer(join(top, "repo"), env, `git.head().then(({ commit }) => git.create_worktree({ path: '${top}/tree', branch: 'x', create_at: commit }))`);
  assert.equal(made.is, "done");
  assert.equal(readFileSync(join(top, "tree/a.txt"), "utf8"), "HI\n");
});

test("a git that is too old is named", (t) => {
  const { top, env } = repository(t);
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const message = (version, ask) => {
    // As git 2.30 and 2.35 do: an unknown option is repeated or refused.
    workspace.write(top, {
      "old/git": `#!/bin/sh
case "$*" in
  *--version) echo "git version ${version}" ;;
  *--path-format=absolute*) echo --path-format=absolute; exec ${real} "$@" ;;
  *"worktree list --porcelain -z") echo "error: unknown switch z" >&2; exit 129 ;;
  *) exec ${real} "$@" ;;
esac
`,
    });
    chmodSync(join(top, "old/git"), 0o755);
    const path = `${join(top, "old")}:${env["PATH"]}`;
    return answer(join(top, "repo"), { ...env, PATH: path }, `${ask}.catch(({ message }) => message)`);
  };
  const tooOld = (version) =>
    `git version ${version} is too old: git 2.36 or newer is needed`;
  assert.equal(message("2.30.2", "git.survey({ branch: '' })"), tooOld("2.30.2"));
  assert.equal(message("2.35.1", "git.worktrees()"), tooOld("2.35.1"));
  // Another error is reported as it is.
  assert.match(message("2.36.0", "git.survey({ branch: '' })"), /contains a line break$/);
  assert.match(message("3.1.0", "git.worktrees()"), /ended with 129: error: unknown switch z$/);
});
