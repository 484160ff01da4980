/** Runs a command line as the whole process. */

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
/** A second signal within this time ends the process at once. */
const SECOND_SIGNAL_MS = 1000;
/** Ctrl-C this soon after the end of an interactive program was meant for that program. */
const HANDOVER_MS = 200;

/**
 * Runs the command line and returns the exit code. `argv[0]` is the name of the program. `program` is the
 * command that starts it, for files that `onloop install` writes.
 */
export async function main(argv: string[], wasm: URL, program = ownProgram(wasm)): Promise<number> {
  // A command uses a small part of the core, so functions are compiled at their first call.
  setFlagsFromString("--wasm-lazy-compilation");
  const core = new Core(readFileSync(wasm));
  const { exit, outcome } = await run(core, argv, program);
  if (outcome === "ended") return exit;
  const answer = core.brokenHookAnswer(argv);
  if (answer === undefined) return exit;
  // Clients ignore a partial answer, and take exit code 2 as a refusal.
  if (outcome === "lost") return EXIT_USAGE;
  // A client without an answer runs the tool. A hook prints its answer at the end, so a failed hook has
  // printed nothing.
  try {
    writeWhole(1, Buffer.from(answer));
    return 0;
  } catch {
    return EXIT_USAGE;
  }
}

/** `broken`: the program failed before its end. `lost`: a part of its output was not written. */
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
    // The exit code tells the reader that the result is incomplete.
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

/** Reports an internal error. All recorded state is on the disk, and locks were released. */
function reportBug(core: Core, argv: string[], error: unknown): number {
  // A bug of the core names its place; one of the host has a stack.
  const what =
    error instanceof Bug ? error.message.replace(PANIC, "") : `: ${stack(error)}`;
  process.stderr.write(
    `error: internal error in onloop ${core.version()}${what}\n` +
      `The record is safe. Please report this at ${REPOSITORY}/issues\n` +
      `with a trace (${REPOSITORY}/blob/main/docs/traces.md). ${howToRecord(core, argv)}\n`,
  );
  return EXIT_BUG;
}

/** The path of the trace of this error, or the command that records one. */
function howToRecord(core: Core, argv: string[]): string {
  const path = process.env[TRACE] ?? "";
  if (path !== "") return `This one is in:\n  ${path}`;
  return `To record one:\n  ${core.recordingCommand(argv)}`;
}

/**
 * Starts the trace that the environment asks for, readable by its owner only. If it cannot be written,
 * the program runs without it, because a hook has to answer.
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
    // An older file may be readable by others.
    fchmodSync(opened, 0o600);
    ftruncateSync(opened);
    file = opened;
  });
  return file === undefined
    ? undefined
    : (line) => {
        const to = file;
        // After an error the trace ends, so that it has no gap.
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

/** A signal interrupts the program; a second one ends the process. */
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
      if (now - last < SECOND_SIGNAL_MS) {
        host.abandon();
        process.exit(EXIT_INTERRUPTED);
      }
      last = now;
      host.interrupt();
    });
  }
}
