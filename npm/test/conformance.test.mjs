// The promises that every host makes, as the data that the other hosts are tested with.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, openSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createWebServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Failure, NodeHost } from "../dist/index.js";
import { folder, repository } from "./support/workspace.mjs";

const lines = readFileSync(join(repository, "tests/vectors/host.jsonl"), "utf8").trim().split("\n");

const cases = lines.map((line) => JSON.parse(line));
const [, , asked, wanted] = process.argv;
// A case with streams runs in a process of its own, which is this file again.
if (asked === "--streams") await connected(cases.find(({ case: name }) => name === wanted));
else cases.forEach((found) => (found.streams ? apart(found) : here(found)));

async function connected({ steps }) {
  const host = new NodeHost({ cwd: process.cwd(), attended: false });
  for (const step of steps) await check(step, host, {});
}

function apart({ case: name, streams }) {
  test(name, async (t) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const full = streams.stdout === "full" ? openSync("/dev/full", "w") : undefined;
    const words = [fileURLToPath(import.meta.url), "--streams", name];
    const child = spawn(process.execPath, words, { cwd: folder(t), env, stdio: ["pipe", full ?? "pipe", "pipe"] });
    if (full !== undefined) closeSync(full);
    if (streams.stdout === "gone") child.stdout.destroy();
    child.stdin.end(streams.stdin);
    const said = [];
    child.stderr.on("data", (bytes) => said.push(bytes));
    const [exit] = await once(child, "close");
    assert.equal(exit, 0, Buffer.concat(said).toString());
  });
}

function here({ case: name, steps }) {
  test(name, async (t) => {
    const cwd = folder(t);
    const host = new NodeHost({ cwd, attended: false });
    t.after(() => host.processes.endLeft());
    t.after(() => host.locks.releaseAll());
    const versions = {};
    for (const step of steps) {
      if (step.setup === "git") setUpRepository(step, cwd);
      else if (step.setup === "serve") versions.server = await serve(t, step);
      else if (step.setup) await setUp(t, step, cwd);
      else await check(step, host, versions);
    }
  });
}

async function setUp(t, { setup, path, target, text = "" }, cwd) {
  const at = join(cwd, path);
  switch (setup) {
    case "link":
      return symlinkSync(target, at);
    case "executable":
      writeFileSync(at, text);
      return chmodSync(at, 0o755);
    case "device": {
      const server = createServer();
      await new Promise((resolve) => server.listen(at, resolve));
      return t.after(() => server.close());
    }
    default:
      throw new Error(`unknown setup ${setup}`);
  }
}

/** Runs git so that the same words make the same commits everywhere; see `tests/sim/conformance/git.rs`. */
function setUpRepository({ words }, cwd) {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  for (const who of ["AUTHOR", "COMMITTER"]) {
    env[`GIT_${who}_NAME`] = "A";
    env[`GIT_${who}_EMAIL`] = "a@example.org";
    env[`GIT_${who}_DATE`] = "1774000000 +0000";
  }
  execFileSync("git", words, { cwd, env, stdio: "pipe" });
}

/** A server that does what the step says; see `tests/sim/loopback.rs`. */
async function serve(t, { silent, raw, status = 200, echo, text: body = "" }) {
  const server = createWebServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      if (silent) return;
      if (raw !== undefined) {
        request.socket.end(raw);
        return;
      }
      const header = request.headers["x-case"] ?? "-";
      const asked = `${request.method} ${request.url} ${header} ${Buffer.concat(chunks)}`;
      response.writeHead(status, { location: "/elsewhere", connection: "close" });
      response.end(echo ? asked : body);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

async function check(step, host, versions) {
  let found;
  try {
    found = await perform(step, host, versions);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    found = { is: error.kind, message: error.message };
  }
  const shown = `${JSON.stringify(step)}\n${JSON.stringify(found)}`;
  assert.equal(found.is, step.is, shown);
  if (found.version && step.version) assert.equal(found.version, versions[step.version], shown);
  if (found.version && step.save) versions[step.save] = found.version;
  const parts = step.do === "write" || step.do === "append" ? [] : Object.keys(found);
  for (const part of parts.filter((part) => part in step && !["version", "path"].includes(part))) {
    assert.deepEqual(found[part], step[part], shown);
  }
  if (step.ends_with) assert.ok(found.path.endsWith(step.ends_with), shown);
}

function bytes(text = "") {
  return new TextEncoder().encode(text);
}

function text(bytes) {
  return new TextDecoder().decode(bytes);
}

async function perform(step, host, versions) {
  const { files, changes, locks, processes, servers, clock, terminal } = host;
  const { path } = step;
  const asked = await performGit(step, host.git, realpathSync(host.cwd));
  if (asked !== undefined) return asked;
  switch (step.do) {
    case "read": {
      const file = await files.read(path, step.limit ?? 0);
      return { is: "file", text: text(file.bytes), version: file.version };
    }
    case "read_tail": {
      const tail = await files.readTail(path, step.limit ?? 0);
      return { is: "tail", text: text(tail.bytes), size: tail.sizeBytes };
    }
    case "write": {
      const known = versions[step.expect];
      const expect = known ? { version: known } : (step.expect ?? "any");
      const version = await files.write(
        path,
        bytes(step.text),
        expect,
        step.durable === true,
        step.private,
      );
      return { is: "written", version };
    }
    case "append": {
      await files.append(path, bytes(step.text), step.len ?? 0, step.durable ?? true, step.private);
      return { is: "done" };
    }
    case "patch":
      await files.patch(path, step.at, bytes(step.old), bytes(step.new));
      return { is: "done" };
    case "remove":
      await files.remove(path);
      return { is: "done" };
    case "list":
      return { is: "names", names: await files.list(path) };
    case "stat": {
      const { kind, sizeBytes, executable } = await files.stat(path);
      return { is: "stat", kind, size: sizeBytes, executable };
    }
    case "canonical":
      return { is: "path", path: await files.canonical(path) };
    case "lock":
      await locks.lock(path, step.wait_ms ?? 0, 0, step.private);
      return { is: "done" };
    case "holder":
      return { is: "holder", live: (await locks.holder(path))?.live ?? null };
    case "end":
      await processes.endLeft();
      return { is: "done" };
    case "unlock":
      await locks.unlock(path);
      return { is: "done" };
    case "sh":
    case "argv":
      return ended(await processes.run(spec(step)));
    case "http": {
      const { status, body } = await servers.http({
        method: step.method === "post" ? "POST" : "GET",
        url: step.url ?? `${versions.server}${step.path}`,
        headers: Object.entries(step.headers ?? {}),
        timeoutMs: step.timeout_ms ?? 20_000,
        limitBytes: step.limit ?? 1000,
        ...(step.body !== undefined && { body: bytes(step.body) }),
      });
      return { is: "http", status, text: text(body) };
    }
    case "launch":
      await processes.launch(step.words, step.wait_ms);
      return { is: "done" };
    case "wait":
      return ended(await processes.wait(step.wake_after_ms));
    case "input": {
      const read = await terminal.readInput(step.limit, step.wait_ms);
      return read === undefined ? { is: "no_input" } : { is: "input", text: text(read) };
    }
    case "say":
      await terminal.say(step.to, step.text);
      return { is: "done" };
    case "ask":
      return { is: "answer", answer: await terminal.ask(step.question) };
    case "changes":
      return { is: "changed", changed: await changes.changes(step.folders, step.wait_ms) };
    case "sleep":
      await clock.sleep(step.ms);
      return { is: "done" };
    default:
      throw new Error(`unknown request ${step.do}`);
  }
}

const relative = (path, root) => (path.startsWith(root) ? path.slice(root.length).replace(/^\//, "") : path);

/** A survey with paths that are relative to the folder of the case. */
function surveyed(found, root) {
  if (found === undefined) return null;
  const { targetCheckedOutAt: at } = found;
  return {
    root: relative(found.root, root),
    main_root: relative(found.mainRoot, root),
    linked: found.linked,
    branch: found.branch ?? null,
    head: found.head ?? null,
    dirty: found.dirty,
    target_commit: found.targetCommit ?? null,
    target_checked_out_at: at === undefined ? null : relative(at, root),
  };
}

/** Steps about repositories; nothing: it is another. */
async function performGit(step, git, root) {
  const { cwd, index, name, at_ms: atMs = 0, limit: limitBytes = 0, paths = [] } = step;
  const programs = step.programs_expected;
  const named = ({ name, commit, atMs }) => ({ name, commit, at_ms: atMs });
  switch (step.do) {
    case "checkpoint": {
      const { says: message, parent } = step;
      const more = { ...(parent && { parent }), ...(programs && { programs }) };
      const kept = await git.checkpoint(cwd, { index, name, message, atMs, limitBytes, ...more });
      const { commit, tree, leftOut } = kept;
      return { is: "checkpoint", commit, tree, programs: kept.programs, left_out: leftOut };
    }
    case "restore":
      await git.restore(cwd, index, step.to, paths, programs);
      return { is: "done" };
    case "diff": {
      const ends = [step.from, step.to];
      const bytes = await git.diff(cwd, ends, step.stat === true, paths, limitBytes);
      return { is: "diff", text: text(bytes) };
    }
    case "changed_paths":
      return { is: "names", names: await git.changedPaths(cwd, step.from, step.to) };
    case "commit_kept": {
      const { branch, head, kept, without = [], says: message } = step;
      const made = { index, branch, head, kept, without, message };
      return { is: "commit", commit: await git.commitKept(cwd, made) };
    }
    case "checkpoints":
      return { is: "checkpoints", checkpoints: (await git.checkpoints(cwd)).map(named) };
    case "forget_checkpoint":
      await git.forgetCheckpoint(cwd, name, step.at);
      return { is: "done" };
    case "note":
      await git.note(cwd, step.at, step.note, atMs);
      return { is: "done" };
    case "survey":
      return { is: "survey", repository: surveyed(await git.survey(cwd, step.branch ?? ""), root) };
    case "worktrees": {
      const entry = ({ path, branch }) => ({ path: relative(path, root), branch: branch ?? null });
      return { is: "worktrees", worktrees: (await git.worktrees(cwd)).map(entry) };
    }
    case "head":
      return { is: "commit", commit: (await git.head(cwd)) ?? null };
    case "create_worktree":
      await git.createWorktree(cwd, step.path, step.branch, step.create_at);
      return { is: "done" };
    case "remove_worktree":
      await git.removeWorktree(cwd, step.path);
      return { is: "done" };
    case "switch":
      await git.switch(cwd, step.branch, step.create === true);
      return { is: "done" };
    case "delete_branch":
      await git.deleteBranch(cwd, step.branch);
      return { is: "done" };
    case "merge_base":
      return { is: "commit", commit: (await git.mergeBase(cwd, step.of, step.branch)) ?? null };
    case "remote_branch":
      return { is: "commit", commit: (await git.remoteBranch(cwd, step.remote, step.branch)) ?? null };
    case "merge":
      await git.merge(cwd, step.branch, step.of, step.into);
      return { is: "done" };
    case "push":
      await git.push(cwd, step.remote, step.branch);
      return { is: "done" };
    case "keep_files": {
      const files = Object.entries(step.files).map(([name, text]) => ({ name, bytes: bytes(text) }));
      const { parent, says: message } = step;
      const made = { files, message, atMs, ...(parent && { parent }) };
      return { is: "commit", commit: await git.keepFiles(cwd, made) };
    }
    case "read_kept":
      return { is: "kept_file", text: text(await git.readKept(cwd, step.of, name, limitBytes)) };
    case "push_refs":
      await git.pushRefs(cwd, step.remote, step.updates);
      return { is: "done" };
    case "fetch_refs": {
      const found = await git.fetchRefs(cwd, step.remote, step.prefix);
      return { is: "checkpoints", checkpoints: found.map(named) };
    }
    case "stash":
      await git.stash(cwd, step.says, paths);
      return { is: "done" };
    default:
      return undefined;
  }
}

function spec(step) {
  return {
    command: step.do === "sh" ? { shell: "sh", line: step.line } : { argv: step.words },
    cwd: step.cwd ?? ".",
    envRemove: [],
    envSet: step.env ?? {},
    captureBytes: step.capture ?? 1000,
    timeoutMs: step.timeout_ms ?? 20_000,
    interactive: false,
    announce: step.announce === true,
    wakeOnLines: step.lines === true,
    ...(step.wake_after_ms !== undefined && { wakeAfterMs: step.wake_after_ms }),
    ...(step.stdin !== undefined && { stdin: bytes(step.stdin) }),
    ...(step.stream_to !== undefined && { streamTo: step.stream_to, isPrivate: step.private }),
  };
}

function ended(turn) {
  if (turn === "running") return { is: "running" };
  if ("started" in turn) return { is: "started" };
  if ("lines" in turn) return { is: "lines", text: text(turn.lines) };
  const { status, stdout, stderr } = turn;
  const word = typeof status === "string" ? status : Object.entries(status)[0].join(" ");
  return {
    is: "process",
    status: word,
    head: text(stdout.head),
    tail: text(stdout.tail),
    total: stdout.totalBytes,
    stderr_head: text(stderr.head),
    stderr_tail: text(stderr.tail),
  };
}
