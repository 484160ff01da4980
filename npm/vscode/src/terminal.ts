/** Terminals that show runs. */

import * as vscode from "vscode";
import { type Job, type Programs, runProgram } from "./run_program.js";
import { EXIT, type ProgramResult } from "./program_result.js";
import { withCarriageReturns, plain } from "./text.js";

/** The options that select the agent. */
export function agentWords(): string[] {
  const settings = vscode.workspace.getConfiguration("onloop");
  const line = settings.get<string>("agentCommand", "");
  if (line !== "") return ["--agent-command", line];
  const agent = settings.get<string>("agent", "");
  return agent === "" ? [] : ["--agent", agent];
}

/** Whether runs use the installed program in a terminal. */
export function usesTerminal(): boolean {
  return vscode.workspace.getConfiguration("onloop").get<string>("runIn") === "terminal";
}

/** The program that runs in a terminal. */
export function terminalProgram(): string {
  return vscode.workspace.getConfiguration("onloop").get<string>("executable", "onloop");
}

/** Starts the installed program in a terminal. */
export function runInTerminal(folder: string, title: string, argv: string[]): void {
  const terminal = vscode.window.createTerminal({
    name: `onloop: ${title}`,
    iconPath: new vscode.ThemeIcon("checklist"),
    cwd: vscode.Uri.file(folder),
    // Without a shell, so that no file name is read as a command.
    shellPath: terminalProgram(),
    shellArgs: argv,
  });
  terminal.show(true);
}

/** Runs a command line in a terminal, with progress that can be cancelled. */
export async function run(core: Programs, title: string, job: Job): Promise<ProgramResult> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const screen = new Screen(abort);
  const terminal = vscode.window.createTerminal({ name: `onloop: ${title}`, iconPath: new vscode.ThemeIcon("checklist"), pty: screen });
  terminal.show(true);
  screen.write(`$ onloop ${job.argv.join(" ")}\n`);
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const running = vscode.window.withProgress(options, (progress, token) => {
    token.onCancellationRequested(abort);
    job.signal?.addEventListener("abort", abort);
    const listener = {
      note: (text: string) => {
        screen.write(text);
        job.listener?.note?.(text);
      },
      result: (text: string) => {
        screen.write(text);
        job.listener?.result?.(text);
      },
      doing: (label: string) => {
        progress.report({ message: plain(label) });
        job.listener?.doing?.(label);
      },
    };
    return runProgram(core, { ...job, listener, signal: controller.signal });
  });
  try {
    const ended = await running;
    screen.end(ended.exit);
    return ended;
  } catch (error) {
    screen.write(`${error instanceof Error ? error.message : String(error)}\n`);
    screen.end(EXIT.bug);
    throw error;
  } finally {
    job.signal?.removeEventListener("abort", abort);
  }
}

/**
 * A terminal that runs a command line when it is shown, and ends with its exit code. `afterwards` returns
 * further output.
 */
export function perform(core: Programs, job: Job, afterwards: (ended: ProgramResult) => Promise<string>): vscode.Pseudoterminal {
  const controller = new AbortController();
  const screen = new Screen(() => controller.abort());
  const write = (text: string): void => screen.write(text);
  const execute = async (): Promise<void> => {
    const listener = {
      result: write,
      note: (text: string) => {
        write(text);
        job.listener?.note?.(text);
      },
    };
    try {
      const ended = await runProgram(core, { ...job, listener, signal: controller.signal });
      write(await afterwards(ended));
      screen.leave(ended.exit);
    } catch (error) {
      write(`${error instanceof Error ? error.message : String(error)}\n`);
      screen.leave(EXIT.bug);
    }
  };
  screen.onOpen(() => void execute());
  return screen;
}

/** The terminal of one program. Ctrl-C interrupts the program; after its end any key closes the terminal. */
class Screen implements vscode.Pseudoterminal {
  readonly #writes = new vscode.EventEmitter<string>();
  readonly #closes = new vscode.EventEmitter<number>();
  readonly onDidWrite = this.#writes.event;
  readonly onDidClose = this.#closes.event;
  readonly #interrupt: () => void;
  #opened: () => void = () => undefined;
  /** Output from before the terminal was opened. */
  #early: string[] | undefined = [];
  #exit: number | undefined;
  #isClosed = false;

  constructor(interrupt: () => void) {
    this.#interrupt = interrupt;
  }

  open(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    early.forEach((text) => this.#writes.fire(text));
    this.#opened();
  }

  onOpen(callback: () => void): void {
    this.#opened = callback;
  }

  close(): void {
    if (this.#exit === undefined) this.#interrupt();
    this.#isClosed = true;
    this.#writes.dispose();
    this.#closes.dispose();
  }

  handleInput(keys: string): void {
    if (this.#exit !== undefined) this.#closes.fire(this.#exit);
    else if (keys === "\x03") this.#interrupt();
  }

  write(text: string): void {
    if (this.#isClosed) return;
    const shown = withCarriageReturns(text);
    if (this.#early === undefined) this.#writes.fire(shown);
    else this.#early.push(shown);
  }

  /** Closes the terminal with an exit code. */
  leave(exit: number): void {
    this.#exit = exit;
    this.#closes.fire(exit);
  }

  end(exit: number): void {
    this.#exit = exit;
    this.write(`\n[exit ${exit}; any key closes this terminal]\n`);
  }
}
