// Tests the Node host with the vectors that all hosts share.

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
// A case with streams runs this file in another process.
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
    t.after(() => host.end());
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

/** Runs git so that the same commands make the same commits on every machine; see `tests/sim/conformance/git.rs`. */
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

/** Performs the request of a step, and returns the outcome in the form of the vectors. */
async function perform(step, host, versions) {
  const root = realpathSync(host.cwd);
  return shown(await host.perform(requestOf(step, versions)), root);
}

function requestOf(step, versions) {
  const { path, limit: limit_bytes = 0 } = step;
  const about = gitRequestOf(step);
  if (about !== undefined) return { do: "git", git: step.do, cwd: step.cwd, ...about };
  switch (step.do) {
    case "read":
    case "read_tail":
      return { do: step.do, path, limit_bytes };
    case "write": {
      const known = versions[step.expect];
      const expect = known ? { version: known } : (step.expect ?? "any");
      const { durable = false, private: isPrivate = false } = step;
      return { do: "write", path, bytes: bytes(step.text), expect, durable, private: isPrivate };
    }
    case "append": {
      const { len: expect_len_bytes = 0, durable = true, private: isPrivate = false } = step;
      return { do: "append", path, bytes: bytes(step.text), expect_len_bytes, durable, private: isPrivate };
    }
    case "patch":
      return { do: "patch", path, offset_bytes: step.at, old: bytes(step.old), new: bytes(step.new) };
    case "lock":
      return { do: "lock", path, wait_ms: step.wait_ms ?? 0, private: step.private ?? false };
    case "sh":
    case "argv":
      return { do: "process", ...spec(step) };
    case "http":
      return {
        do: "http",
        method: step.method === "post" ? "POST" : "GET",
        url: step.url ?? `${versions.server}${step.path}`,
        headers: Object.entries(step.headers ?? {}),
        timeout_ms: step.timeout_ms ?? 20_000,
        limit_bytes: step.limit ?? 1000,
        body: step.body === undefined ? null : bytes(step.body),
      };
    case "launch":
      return {
        do: "launch",
        argv: step.words,
        cwd: step.cwd ?? ".",
        env_remove: step.env_remove ?? [],
        log: step.log ?? null,
        wait_ms: step.wait_ms,
      };
    case "interrupt":
      return { do: "interrupt", process: { pid: step.pid, host: step.host, started: "" }, now: false };
    case "wait":
      return { do: "wait", wake_after_ms: step.wake_after_ms ?? null, wake_on_input: false, activity: null };
    case "input":
      return { do: "read_input", limit_bytes, wait_ms: step.wait_ms ?? null };
    case "sleep":
      return { do: "sleep", duration_ms: step.ms };
    default:
      return step;
  }
}

/** The members of a git request; `undefined` for other requests. */
function gitRequestOf(step) {
  const { index, name, at_ms = 0, limit: limit_bytes = 0, paths = [], branch } = step;
  const { parent = null, programs_expected: programs = null, says: message } = step;
  switch (step.do) {
    case "checkpoint":
      return { index, name, parent, message, at_ms, limit_bytes, programs };
    case "restore":
      return { index, commit: step.to, paths, programs };
    case "diff":
      return { from: step.from, to: step.to, stat: step.stat === true, paths, limit_bytes };
    case "changed_paths":
      return { from: step.from, to: step.to };
    case "commit_kept":
      return { index, branch, head: step.head, kept: step.kept, without: step.without ?? [], message };
    case "forget_checkpoint":
      return { name, commit: step.at };
    case "note":
      return { commit: step.at, text: step.note, at_ms };
    case "create_worktree":
      return { path: step.path, branch, create_at: step.create_at ?? null };
    case "switch":
      return { branch, create: step.create === true };
    case "merge_base":
      return { commit: step.of, branch };
    case "merge":
    case "recover_merge":
      return { branch, commit: step.of, into: step.into };
    case "keep_files": {
      const files = Object.entries(step.files).map(([name, text]) => ({ name, bytes: bytes(text) }));
      return { files, name: step.name ?? null, parent, message, at_ms };
    }
    case "read_kept":
      return { commit: step.of, name, limit_bytes };
    case "push_refs":
      return { remote: step.remote, updates: step.updates };
    case "stash":
      return { message, paths };
    case "survey":
      return { branch: branch ?? "" };
    case "worktrees":
    case "head":
    case "checkpoints":
    case "remove_worktree":
    case "delete_branch":
    case "remote_branch":
    case "push":
    case "fetch_refs":
      return { path: step.path, branch, remote: step.remote, prefix: step.prefix };
    default:
      return undefined;
  }
}

function spec(step) {
  return {
    command: step.do === "sh" ? { shell: "sh", line: step.line } : { argv: step.words },
    cwd: step.cwd ?? ".",
    env_remove: [],
    env_set: step.env ?? {},
    stdin: step.stdin === undefined ? null : bytes(step.stdin),
    timeout_ms: step.timeout_ms ?? 20_000,
    capture_bytes: step.capture ?? 1000,
    stream_to: step.stream_to ?? null,
    private: step.private ?? false,
    label: null,
    interactive: false,
    wake_after_ms: step.wake_after_ms ?? null,
    wake_on_input: false,
    wake_on_lines: step.lines === true,
    announce: step.announce === true,
  };
}

const relative = (path, root) => (path.startsWith(root) ? path.slice(root.length).replace(/^\//, "") : path);

/** An outcome with texts instead of bytes, and with paths that are relative to the folder of the case. */
function shown(outcome, root) {
  switch (outcome.is) {
    case "tail":
      return { is: "tail", text: text(outcome.bytes), size: outcome.size_bytes };
    case "stat":
      return { ...outcome, size: outcome.size_bytes };
    case "holder":
      return { is: "holder", live: outcome.holder?.live ?? null };
    case "http":
      return { is: "http", status: outcome.status, text: text(outcome.body) };
    case "process": {
      const { status, stdout, stderr } = outcome;
      return {
        is: "process",
        status: typeof status === "string" ? status : Object.entries(status)[0].join(" "),
        head: text(stdout.head),
        tail: text(stdout.tail),
        total: stdout.total_bytes,
        stderr_head: text(stderr.head),
        stderr_tail: text(stderr.tail),
      };
    }
    case "survey": {
      const { repository: found } = outcome;
      if (found === null) return outcome;
      const [top, main] = [relative(found.root, root), relative(found.main_root, root)];
      const at = found.target_checked_out_at;
      const target_checked_out_at = at === null ? null : relative(at, root);
      return { is: "survey", repository: { ...found, root: top, main_root: main, target_checked_out_at } };
    }
    case "worktrees":
      return { is: "worktrees", worktrees: outcome.worktrees.map(({ path, branch }) => ({ path: relative(path, root), branch })) };
    default:
      return outcome.bytes === undefined ? outcome : { ...outcome, text: text(outcome.bytes) };
  }
}
