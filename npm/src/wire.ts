/** How a host answers the documents of the core, and where their bytes go. */

import * as given from "./arguments.js";
import { Failure } from "./failure.js";
import type { Capture, Host, ProcessSpec, ProcessTurn, Repository, Secret } from "./host.js";
import type * as vocabulary from "./vocabulary.js";
import type { ServeRequest } from "./serve_vocabulary.js";
import type { Bytes, GitRequest, Outcome, Reply, Request } from "./vocabulary.js";

/** A document and the bytes that belong to it. */
export interface Message {
  json: string;
  attachments: Uint8Array[];
}

/**
 * Performs one request. A failed effect is an answer, too; a bug in a host is not. `secrets` tells
 * what must not get into the log of a program.
 */
export async function perform(
  host: Host,
  request: Request,
  attachments: Uint8Array[],
  secrets: () => Secret[],
): Promise<Message> {
  const answer = new Answer();
  let reply: Reply;
  try {
    const done = await outcome(host, request, attachments, answer, secrets);
    reply = { at_ms: host.clock.nowMs(), outcome: done };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { kind, message } = error;
    reply = { at_ms: host.clock.nowMs(), failure: { kind, message } };
    answer.attachments.length = 0;
  }
  return { json: JSON.stringify(reply), attachments: answer.attachments };
}

class Answer {
  readonly attachments: Uint8Array[] = [];

  attach(bytes: Uint8Array): Bytes {
    return this.attachments.push(given.bytes(bytes)) - 1;
  }

  turn(turn: ProcessTurn): Outcome {
    if (turn === "running") return { is: "running" };
    if ("started" in turn) return { is: "started", group: turn.started };
    if ("lines" in turn) return { is: "lines", bytes: this.attach(turn.lines) };
    return {
      is: "process",
      status: turn.status,
      stdout: this.#capture(turn.stdout),
      stderr: this.#capture(turn.stderr),
      duration_ms: turn.durationMs,
    };
  }

  #capture(capture: Capture): vocabulary.Capture {
    return {
      head: this.attach(capture.head),
      tail: this.attach(capture.tail),
      total_bytes: capture.totalBytes,
    };
  }
}

const DONE: Outcome = { is: "done" };

async function outcome(
  host: Host,
  request: Request,
  attachments: Uint8Array[],
  answer: Answer,
  secrets: () => Secret[],
): Promise<Outcome> {
  const bytes = (at: Bytes): Uint8Array => {
    const found = attachments[at];
    if (found === undefined) throw new Error(`the core sent no attachment ${at}`);
    return found;
  };
  const { files, locks, processes, clock, terminal } = host;
  switch (request.do) {
    case "read": {
      const file = await files.read(request.path, request.limit_bytes);
      return { is: "file", bytes: answer.attach(file.bytes), version: file.version };
    }
    case "read_tail": {
      const tail = await files.readTail(request.path, request.limit_bytes);
      return { is: "tail", bytes: answer.attach(tail.bytes), size_bytes: tail.sizeBytes };
    }
    case "write": {
      const { path, expect, durable, private: isPrivate } = request;
      const content = bytes(request.bytes);
      const version = await files.write(path, content, expect, durable, isPrivate);
      return { is: "written", version };
    }
    case "append": {
      const { path, expect_len_bytes, durable, private: isPrivate } = request;
      const content = bytes(request.bytes);
      await files.append(path, content, expect_len_bytes, durable, isPrivate);
      return DONE;
    }
    case "patch": {
      const { path, offset_bytes } = request;
      await files.patch(path, offset_bytes, bytes(request.old), bytes(request.new));
      return DONE;
    }
    case "remove":
      await files.remove(request.path);
      return DONE;
    case "list":
      return { is: "names", names: await files.list(request.path) };
    case "stat": {
      const { kind, sizeBytes, modifiedMs, executable, foreign } = await files.stat(request.path);
      const stat = { size_bytes: sizeBytes, modified_ms: modifiedMs, executable, ...(foreign && { foreign }) };
      return { is: "stat", kind, ...stat };
    }
    case "canonical":
      return { is: "path", path: await files.canonical(request.path) };
    case "lock":
      await locks.lock(request.path, request.wait_ms, clock.nowMs(), request.private, request.role ?? undefined);
      return DONE;
    case "unlock":
      await locks.unlock(request.path);
      return DONE;
    case "holder": {
      if (locks.holder === undefined) {
        throw new Failure("unsupported", "this host does not tell who has a lock");
      }
      return { is: "holder", holder: (await locks.holder(request.path)) ?? null };
    }
    case "ancestors":
      if (processes.ancestors === undefined) {
        throw new Failure("unsupported", "this host does not know other processes");
      }
      return { is: "processes", processes: await processes.ancestors() };
    case "process":
      if ((request.confine ?? null) !== null) {
        // Whoever asks for it must not get a program that only seems to be confined.
        throw new Failure("unsupported", "cannot confine a program: use the native onloop for that");
      }
      return answer.turn(await processes.run(processSpec(request, bytes, secrets)));
    case "wait": {
      if (processes.wait === undefined) {
        throw new Failure("not_found", "this host leaves no program running");
      }
      const { wake_after_ms, wake_on_input, activity } = request;
      const wakeAfterMs = wake_after_ms ?? undefined;
      return answer.turn(await processes.wait(wakeAfterMs, wake_on_input, activity ?? undefined));
    }
    case "end":
      await processes.endLeft?.();
      return DONE;
    case "end_group": {
      if (processes.endGroup === undefined) {
        throw new Failure("unsupported", "this host does not know other processes");
      }
      const survivors = await processes.endGroup(request.group, request.host, request.mark ?? undefined);
      return { is: "ended", survivors };
    }
    case "launch":
      if (processes.launch === undefined) {
        throw new Failure("unsupported", "this host starts no programs that outlive it");
      }
      await processes.launch(request.argv, request.wait_ms);
      return DONE;
    case "git":
      return gitOutcome(host, request, answer, bytes);
    case "http": {
      if (host.servers === undefined) {
        throw new Failure("unsupported", "this host has no network");
      }
      const { method, url, headers, body } = request;
      const { status, body: answered } = await host.servers.http({
        method,
        url,
        headers,
        timeoutMs: request.timeout_ms,
        limitBytes: request.limit_bytes,
        ...(body !== null && { body: bytes(body) }),
      });
      return { is: "http", status, body: answer.attach(answered) };
    }
    case "serve":
      return serveOutcome(host, request, answer, bytes);
    case "ask":
      return { is: "answer", answer: await terminal.ask(request.question) };
    case "read_input": {
      const { limit_bytes, wait_ms, unit } = request;
      const read = unit === "bytes" ? terminal.readBytes : terminal.readInput;
      if (read === undefined) {
        throw new Failure("unsupported", "this host has no standard input");
      }
      const input = await read.call(terminal, limit_bytes, wait_ms ?? undefined);
      if (input === undefined) return { is: "no_input" };
      return { is: "input", bytes: answer.attach(input) };
    }
    case "changes": {
      if (host.changes === undefined) {
        throw new Failure("unsupported", "this host does not notice changes");
      }
      const { folders, wait_ms } = request;
      return { is: "changed", changed: await host.changes.changes(folders, wait_ms) };
    }
    case "sleep":
      await clock.sleep(request.duration_ms);
      return DONE;
    case "say":
      await terminal.say(request.to, request.text);
      return DONE;
    default:
      return unknown(request);
  }
}

async function serveOutcome(
  { serve }: Host,
  request: ServeRequest,
  answer: Answer,
  bytes: (at: Bytes) => Uint8Array,
): Promise<Outcome> {
  if (serve === undefined) throw new Failure("unsupported", "this host cannot be a server");
  switch (request.serve) {
    case "listen": {
      const { port, secret } = await serve.listen(request.port);
      return { is: "listening", port, secret: answer.attach(secret) };
    }
    case "next": {
      const call = await serve.next(request.wait_ms ?? undefined, request.folders);
      if (call === undefined) return { is: "no_call" };
      return { is: "call", ...call, body: answer.attach(call.body) };
    }
    case "answer": {
      const { body, ...rest } = request.answer;
      await serve.answer(request.call, { ...rest, body: bytes(body) });
      return DONE;
    }
    case "push":
      await serve.push(request.call, bytes(request.bytes));
      return DONE;
    default:
      return unknown(request);
  }
}

function processSpec(
  document: vocabulary.ProcessSpec,
  bytes: (at: Bytes) => Uint8Array,
  secrets: () => Secret[],
): ProcessSpec {
  const { stdin, timeout_ms, stream_to, label, wake_after_ms } = document;
  return {
    command: document.command,
    cwd: document.cwd,
    envRemove: document.env_remove,
    envSet: document.env_set,
    captureBytes: document.capture_bytes,
    interactive: document.interactive,
    wakeOnInput: document.wake_on_input,
    wakeOnLines: document.wake_on_lines,
    announce: document.announce,
    ...(stdin !== null && { stdin: bytes(stdin) }),
    ...(timeout_ms !== null && { timeoutMs: timeout_ms }),
    ...(stream_to !== null && {
      streamTo: stream_to,
      isPrivate: document.private,
      secrets: secrets(),
    }),
    ...(label !== null && { label }),
    ...(wake_after_ms !== null && { wakeAfterMs: wake_after_ms }),
  };
}

async function gitOutcome(
  { git }: Host,
  request: GitRequest,
  answer: Answer,
  bytes: (at: Bytes) => Uint8Array,
): Promise<Outcome> {
  const { cwd } = request;
  switch (request.git) {
    case "survey":
      return { is: "survey", repository: repository(await git.survey(cwd, request.branch)) };
    case "worktrees": {
      const entries = await git.worktrees(cwd);
      const worktrees = entries.map(({ path, branch }) => ({ path, branch: branch ?? null }));
      return { is: "worktrees", worktrees };
    }
    case "head":
      return { is: "commit", commit: (await git.head(cwd)) ?? null };
    case "create_worktree": {
      const { path, branch, create_at } = request;
      await git.createWorktree(cwd, path, branch, create_at ?? undefined);
      return DONE;
    }
    case "remove_worktree":
      await git.removeWorktree(cwd, request.path);
      return DONE;
    case "switch":
      await git.switch(cwd, request.branch, request.create);
      return DONE;
    case "delete_branch":
      await git.deleteBranch(cwd, request.branch);
      return DONE;
    case "merge_base": {
      const { commit, branch } = request;
      return { is: "commit", commit: (await git.mergeBase(cwd, commit, branch)) ?? null };
    }
    case "remote_branch": {
      const { remote, branch } = request;
      return { is: "commit", commit: (await git.remoteBranch(cwd, remote, branch)) ?? null };
    }
    case "merge":
      await git.merge(cwd, request.branch, request.commit, request.into);
      return DONE;
    case "push":
      await git.push(cwd, request.remote, request.branch);
      return DONE;
    case "stash":
      await git.stash(cwd, request.message, request.paths);
      return DONE;
    case "checkpoint":
    case "restore":
    case "diff":
    case "changed_paths":
    case "checkpoints":
    case "forget_checkpoint":
    case "commit_kept":
    case "note":
      return asideOutcome(git, request, answer);
    case "keep_files":
    case "read_kept":
    case "push_refs":
    case "fetch_refs":
      return sharedOutcome(git, request, answer, bytes);
    default:
      return unknown(request);
  }
}

/** What concerns commits that no branch shows. */
async function asideOutcome(
  git: Host["git"],
  request: Extract<GitRequest, { git: AsideName }>,
  answer: Answer,
): Promise<Outcome> {
  const { cwd } = request;
  switch (request.git) {
    case "checkpoint": {
      const { index, name, parent, message, at_ms: atMs, limit_bytes, programs } = request;
      const given = {
        ...{ index, name, message, atMs, limitBytes: limit_bytes },
        ...(parent !== null && { parent }),
        ...(programs !== null && { programs }),
      };
      const { leftOut, ...kept } = await can(git.checkpoint?.(cwd, given));
      return { is: "checkpoint", ...kept, left_out: leftOut };
    }
    case "restore": {
      const { index, commit, paths, programs } = request;
      await can(git.restore?.(cwd, index, commit, paths, programs ?? undefined));
      return DONE;
    }
    case "diff": {
      const { from, to, stat, paths, limit_bytes } = request;
      const bytes = await can(git.diff?.(cwd, [from, to], stat, paths, limit_bytes));
      return { is: "diff", bytes: answer.attach(bytes) };
    }
    case "changed_paths":
      return { is: "names", names: await can(git.changedPaths?.(cwd, request.from, request.to)) };
    case "checkpoints": {
      const found = await can(git.checkpoints?.(cwd));
      const checkpoints = found.map(({ atMs, ...named }) => ({ ...named, at_ms: atMs }));
      return { is: "checkpoints", checkpoints };
    }
    case "forget_checkpoint":
      await can(git.forgetCheckpoint?.(cwd, request.name, request.commit));
      return DONE;
    case "note":
      await can(git.note?.(cwd, request.commit, request.text, request.at_ms));
      return DONE;
    case "commit_kept": {
      const { index, branch, head, kept, without, message } = request;
      const made = { index, branch, head, kept, without, message };
      return { is: "commit", commit: await can(git.commitKept?.(cwd, made)) };
    }
    default:
      return unknown(request);
  }
}

/** What several machines share through a remote repository. */
async function sharedOutcome(
  git: Host["git"],
  request: Extract<GitRequest, { git: SharedName }>,
  answer: Answer,
  bytes: (at: Bytes) => Uint8Array,
): Promise<Outcome> {
  const { cwd } = request;
  switch (request.git) {
    case "keep_files": {
      const { parent, message, at_ms: atMs } = request;
      const files = request.files.map((file) => ({ name: file.name, bytes: bytes(file.bytes) }));
      const made = { files, message, atMs, ...(parent !== null && { parent }) };
      return { is: "commit", commit: await can(git.keepFiles?.(cwd, made)) };
    }
    case "read_kept": {
      const { commit, name, limit_bytes } = request;
      const found = await can(git.readKept?.(cwd, commit, name, limit_bytes));
      return { is: "kept_file", bytes: answer.attach(found) };
    }
    case "push_refs": {
      const updates = request.updates.map(({ name, expected, commit }) => ({
        name,
        ...(expected !== null && { expected }),
        ...(commit !== null && { commit }),
      }));
      await can(git.pushRefs?.(cwd, request.remote, updates));
      return DONE;
    }
    case "fetch_refs": {
      const found = await can(git.fetchRefs?.(cwd, request.remote, request.prefix));
      const checkpoints = found.map(({ atMs, ...named }) => ({ ...named, at_ms: atMs }));
      return { is: "checkpoints", checkpoints };
    }
    default:
      return unknown(request);
  }
}

type SharedName = "keep_files" | "read_kept" | "push_refs" | "fetch_refs";

type AsideName =
  | "checkpoint"
  | "restore"
  | "diff"
  | "changed_paths"
  | "checkpoints"
  | "forget_checkpoint"
  | "note"
  | "commit_kept";

/** What a host that keeps no work leaves out it cannot do. */
function can<T>(done: Promise<T> | undefined): Promise<T> {
  if (done === undefined) throw new Failure("unsupported", "this host does not keep work in git");
  return done;
}

function repository(found: Repository | undefined): vocabulary.Repository | null {
  if (found === undefined) return null;
  return {
    root: found.root,
    main_root: found.mainRoot,
    linked: found.linked,
    branch: found.branch ?? null,
    head: found.head ?? null,
    dirty: found.dirty,
    target_commit: found.targetCommit ?? null,
    target_checked_out_at: found.targetCheckedOutAt ?? null,
  };
}

function unknown(request: never): never {
  const what = JSON.stringify(request);
  throw new Failure("unsupported", `this host does not know the request ${what}`);
}
