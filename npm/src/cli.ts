/** Runs the program of a command line as the whole process. */

import { constants, fchmodSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Core, EXIT_BUG, TRACE } from "./core.js";
import { Bug, PANIC } from "./instance.js";
import { NodeHost } from "./node/host.js";
import { isUnderNohup } from "./signals.js";

const EXIT_USAGE = 2;
const EXIT_REFUSED = 4;
const EXIT_INTERRUPTED = 130;
const REPOSITORY = "https://github.com/onloop/onloop";
const { O_CREAT, O_WRONLY } = constants;
/** A second signal within this time means "now": nothing is saved any more. */
const IMPATIENCE_MS = 1000;
/** A key that arrives this soon after an interactive program has ended was meant for it. */
const HANDOVER_MS = 200;

/**
 * Runs the command line and returns the exit code. `argv[0]` is the name it was called by; `program` is
 * how others start it, for what is installed into hosts.
 */
export async function main(argv: string[], wasm: URL, program = ownProgram(wasm)): Promise<number> {
  // A command uses a small part of the core: compile what it calls when it calls it.
  setFlagsFromString("--wasm-lazy-compilation");
  const core = new Core(readFileSync(wasm));
  const { exit, outcome } = await run(core, argv, program);
  if (outcome === "ended") return exit;
  const answer = core.brokenHookAnswer(argv);
  if (answer === undefined) return exit;
  // An agent host treats a partial answer as none, and exit code 2 as a refusal.
  if (outcome === "lost") return EXIT_USAGE;
  // One that gets no answer runs the tool. A hook's program answers once, at its end, so nothing
  // has been printed when it fails.
  try {
    writeWhole(1, Buffer.from(answer));
    return 0;
  } catch {
    return EXIT_USAGE;
  }
}

/** Whether the program ended, failed before its end, or lost a part of its output. */
interface Ending {
  exit: number;
  outcome: "ended" | "broken" | "lost";
}

function ownProgram(wasm: URL): string[] {
  return [process.execPath, fileURLToPath(new URL("../bin/onloop.mjs", wasm))];
}

async function run(core: Core, argv: string[], program: string[]): Promise<Ending> {
  const now = process.env["ONLOOP_NOW"] ?? "";
  const frozenMs = now === "" ? undefined : core.parseTime(now);
  if (now !== "" && frozenMs === undefined) {
    const expected =
      "expected RFC 3339 (`2026-03-20T21:23:15Z`) or milliseconds since 1970";
    return broken(refuse(`\`ONLOOP_NOW\` is \`${now}\`; ${expected}`, EXIT_USAGE));
  }
  let host: NodeHost;
  try {
    host = new NodeHost(frozenMs === undefined ? {} : { frozenMs });
  } catch (error) {
    return broken(refuse(`cannot work in the current folder: ${text(error)}`, EXIT_REFUSED));
  }
  listen(host);
  try {
    const { role: _, ...start } = host.start(argv);
    const exit = await core.run({ ...start, program }, host, recording());
    const { lostOutput } = host;
    // Whoever reads the result must not mistake a part of it for the whole.
    if (exit !== 0 || lostOutput === undefined) return { exit, outcome: "ended" };
    return { exit: refuse(lostOutput.message, EXIT_REFUSED), outcome: "lost" };
  } catch (error) {
    return broken(reportBug(core, argv, error));
  }
}

function broken(exit: number): Ending {
  return { exit, outcome: "broken" };
}

function refuse(message: string, exit: number): number {
  process.stderr.write(`error: ${message.replace(/[\x00-\x1f\x7f]/g, "")}\n`);
  return exit;
}

/** Everything durable is already on disk; locks were released. */
function reportBug(core: Core, argv: string[], error: unknown): number {
  // A bug of the core says where it is itself; one of the host has a stack.
  const what =
    error instanceof Bug ? error.message.replace(PANIC, "") : `: ${stack(error)}`;
  process.stderr.write(
    `onloop ${core.version()} hit a bug of its own${what}\n` +
      `What was recorded is safe. Please report this at ${REPOSITORY}/issues\n` +
      `with a trace (${REPOSITORY}/blob/main/docs/traces.md). ${howToRecord(core, argv)}\n`,
  );
  return EXIT_BUG;
}

/** Where the trace of this bug is, or the command that records one. */
function howToRecord(core: Core, argv: string[]): string {
  const path = process.env[TRACE] ?? "";
  if (path !== "") return `This one is in:\n  ${path}`;
  return `To record one:\n  ${core.recordingCommand(argv)}`;
}

/**
 * Starts the recording that the environment asks for, readable by its owner only. If it cannot be
 * written, the program runs without it: a hook has to answer.
 */
function recording(): ((line: string) => void) | undefined {
  const path = process.env[TRACE] ?? "";
  if (path === "") return undefined;
  let file: number | undefined;
  const attempt = (write: () => void): void => {
    try {
      write();
    } catch (error) {
      file = undefined;
      const why = text(error);
      process.stderr.write(`warning: cannot write the trace that ${TRACE} names: ${why}\n`);
    }
  };
  attempt(() => {
    const opened = openSync(path, O_WRONLY | O_CREAT, 0o600);
    // Before anything is in it: the file may be an older one that others can read.
    fchmodSync(opened, 0o600);
    ftruncateSync(opened);
    file = opened;
  });
  return file === undefined
    ? undefined
    : (line) => {
        const to = file;
        // A recording with a gap is not continued.
        if (to !== undefined) attempt(() => writeWhole(to, Buffer.from(line)));
      };
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function stack(error: unknown): string {
  return (error instanceof Error && error.stack) || text(error);
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Signals interrupt what waits; a second one ends everything. */
function listen(host: NodeHost): void {
  let last = -Infinity;
  let lentUntil = -Infinity;
  const ignored = isUnderNohup() ? "SIGHUP" : undefined;
  for (const name of ["SIGHUP", "SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (name === ignored) return;
      const now = performance.now();
      if (host.terminalLent) lentUntil = now + HANDOVER_MS;
      if (name === "SIGINT" && now < lentUntil) return;
      if (now - last < IMPATIENCE_MS) {
        host.abandon();
        process.exit(EXIT_INTERRUPTED);
      }
      last = now;
      host.interrupt();
    });
  }
}
