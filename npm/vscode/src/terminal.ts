/** Runs in the editor: a terminal that shows what happens, progress, and an end that is told. */

import * as vscode from "vscode";
import { type Job, type Programs, conduct } from "./conduct.js";
import { EXIT, type Ended } from "./ended.js";
import { onScreen, plain } from "./screen.js";

/** The command line's words for whoever acts on the steps. */
export function agentWords(): string[] {
  const settings = vscode.workspace.getConfiguration("onloop");
  const line = settings.get<string>("agentCommand", "");
  if (line !== "") return ["--agent-command", line];
  const agent = settings.get<string>("agent", "");
  return agent === "" ? [] : ["--agent", agent];
}

/** Whether runs are left to a program in a terminal of its own. */
export function runsInTerminal(): boolean {
  return vscode.workspace.getConfiguration("onloop").get<string>("runIn") === "terminal";
}

/** Starts the command line in a terminal. How it ends is that terminal's affair. */
export function runInTerminal(folder: string, title: string, argv: string[]): void {
  const program = vscode.workspace.getConfiguration("onloop").get<string>("executable", "onloop");
  const terminal = vscode.window.createTerminal({
    name: `onloop: ${title}`,
    iconPath: new vscode.ThemeIcon("checklist"),
    cwd: vscode.Uri.file(folder),
    // Not through a shell: nothing in a file's name is a command.
    shellPath: program,
    shellArgs: argv,
  });
  terminal.show(true);
}

/** Performs a command line in a terminal of ours, with progress that can be cancelled. */
export async function run(core: Programs, title: string, job: Job): Promise<Ended> {
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
    return conduct(core, { ...job, listener, signal: controller.signal });
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
 * A terminal in which a command line is performed once it is shown; how it ends is how the terminal
 * ends. `afterwards` may have more to say.
 */
export function perform(core: Programs, job: Job, afterwards: (ended: Ended) => Promise<string>): vscode.Pseudoterminal {
  const controller = new AbortController();
  const screen = new Screen(() => controller.abort());
  const write = (text: string): void => screen.write(text);
  const act = async (): Promise<void> => {
    const listener = {
      result: write,
      note: (text: string) => {
        write(text);
        job.listener?.note?.(text);
      },
    };
    try {
      const ended = await conduct(core, { ...job, listener, signal: controller.signal });
      write(await afterwards(ended));
      screen.leave(ended.exit);
    } catch (error) {
      write(`${error instanceof Error ? error.message : String(error)}\n`);
      screen.leave(EXIT.bug);
    }
  };
  screen.onOpen(() => void act());
  return screen;
}

/** The terminal of one program. Ctrl-C interrupts it; after its end any key closes it. */
class Screen implements vscode.Pseudoterminal {
  readonly #writes = new vscode.EventEmitter<string>();
  readonly #closes = new vscode.EventEmitter<number>();
  readonly onDidWrite = this.#writes.event;
  readonly onDidClose = this.#closes.event;
  readonly #interrupt: () => void;
  #opened: () => void = () => undefined;
  /** What was written before somebody could see it. */
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

  onOpen(act: () => void): void {
    this.#opened = act;
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
    // The program goes on to its end, and nobody sees it.
    if (this.#isClosed) return;
    const shown = onScreen(text);
    if (this.#early === undefined) this.#writes.fire(shown);
    else this.#early.push(shown);
  }

  /** Ends the terminal as the program has ended. */
  leave(exit: number): void {
    this.#exit = exit;
    this.#closes.fire(exit);
  }

  end(exit: number): void {
    this.#exit = exit;
    this.write(`\n[exit ${exit}; any key closes this terminal]\n`);
  }
}
