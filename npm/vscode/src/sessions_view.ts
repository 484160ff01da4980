/** The trees of waiting decisions and of hands-off sessions. */

import type { Core } from "onloop";
import * as vscode from "vscode";
import { type CallCard, type SessionCard, describeSession, readBoard, sessionIcon } from "./board.js";
import { logError } from "./output.js";
import type { CommandRunner } from "./command_runner.js";
import { age } from "./runs.js";
import { plain } from "./text.js";
import { type Waiting, waiting } from "./waiting.js";
import { type Watcher, folders } from "./watcher.js";

/** The delay of a read after a change of runs, which change several times in each step. */
const SETTLING_MS = 1000;
/** The files of sessions and calls. */
const SESSION_FILES = "**/.tmp/hooked-sessions/**";

/** Sessions and calls, read again when they or runs change. */
export class BoardWatcher implements vscode.Disposable {
  readonly #core: Core;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changes.event;
  readonly #disposables: vscode.Disposable[] = [this.#changes];
  #reading: Promise<void> | undefined;
  #again = false;
  #soon: ReturnType<typeof setTimeout> | undefined;
  /** Whether the board was read in this window. */
  isRead = false;
  sessions: SessionCard[] = [];
  calls: CallCard[] = [];

  constructor(core: Core, watcher: Watcher) {
    this.#core = core;
    const files = vscode.workspace.createFileSystemWatcher(SESSION_FILES);
    const read = (): void => void this.refresh();
    this.#disposables.push(files, files.onDidChange(read), files.onDidCreate(read), files.onDidDelete(read));
    this.#disposables.push(watcher.onDidChange(() => this.#refreshLater()));
    // The board also has sessions of other folders, whose files are not watched.
    this.#disposables.push(vscode.window.onDidChangeWindowState(({ focused }) => void (focused && read())));
  }

  refresh(): Promise<void> {
    this.#again = this.#reading !== undefined;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  /** Reads after a delay, once for all changes until then. */
  #refreshLater(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      void this.refresh();
    }, SETTLING_MS);
  }

  dispose(): void {
    clearTimeout(this.#soon);
    this.#disposables.forEach((disposable) => disposable.dispose());
  }

  async #read(): Promise<void> {
    const folder = folders()[0];
    if (folder === undefined) return;
    do {
      this.#again = false;
      try {
        ({ sessions: this.sessions, calls: this.calls } = await readBoard(this.#core, folder));
      } catch (error) {
        logError("sessions cannot be read", error);
      }
    } while (this.#again);
    this.isRead = true;
    void vscode.commands.executeCommand("setContext", "onloop.hasSessions", this.sessions.length > 0);
    this.#changes.fire();
  }
}

/** The tree of waiting decisions. */
export class WaitingTree implements vscode.TreeDataProvider<Waiting>, vscode.Disposable {
  readonly #board: BoardWatcher;
  readonly #watcher: Watcher;
  readonly #changes = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidChangeTreeData = this.#changes.event;

  constructor(board: BoardWatcher, watcher: Watcher) {
    this.#board = board;
    this.#watcher = watcher;
    this.#subscriptions = [board, watcher].map(({ onDidChange }) => onDidChange(() => this.#changes.fire()));
  }

  dispose(): void {
    this.#subscriptions.forEach((subscription) => subscription.dispose());
    this.#changes.dispose();
  }

  getChildren(): Waiting[] {
    return waiting(this.#watcher.store.runs(), this.#board.calls);
  }

  getTreeItem({ key, title, detail, since, command, argument, about }: Waiting): vscode.TreeItem {
    const item = new vscode.TreeItem(title);
    item.id = key;
    item.description = [detail, age(since, Date.now())].filter((part) => part !== undefined).join(" · ");
    const isCall = "call" in about;
    item.iconPath = new vscode.ThemeIcon(isCall ? "shield" : "bell-dot", new vscode.ThemeColor("list.warningForeground"));
    item.contextValue = isCall ? (about.call.complete ? "call whole" : "call") : command === "onloop.gate" ? "gate" : "question";
    item.command = { command, title: "Decide…", arguments: [argument] };
    item.tooltip = isCall ? callText(about.call) : argument;
    return item;
  }
}

export class SessionsTree implements vscode.TreeDataProvider<SessionCard> {
  readonly #board: BoardWatcher;
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(board: BoardWatcher) {
    this.#board = board;
    this.onDidChangeTreeData = board.onDidChange;
  }

  getChildren(): SessionCard[] {
    return this.#board.sessions;
  }

  getTreeItem(session: SessionCard): vscode.TreeItem {
    const item = new vscode.TreeItem(session.goal === "" ? session.id : session.goal);
    item.id = session.id;
    item.description = describeSession(session, Date.now());
    const { name, color } = sessionIcon(session);
    item.iconPath = new vscode.ThemeIcon(name, color === undefined ? undefined : new vscode.ThemeColor(color));
    item.contextValue = session.activity === "ended" ? "session ended" : "session open";
    const lines = [session.id, session.folder, session.host, session.reason, session.used, session.last?.text];
    item.tooltip = lines.filter((line) => line != null && line !== "").join("\n");
    return item;
  }
}

/** The commands for calls and sessions. */
export function registerSessionCommands(runner: CommandRunner, board: BoardWatcher): vscode.Disposable[] {
  const execute = async (folder: string, argv: string[], failed: string): Promise<void> => {
    await runner.execute(folder, argv, failed);
    await board.refresh();
  };
  const callOf = (about: string | Waiting | undefined): CallCard | undefined => {
    const id = typeof about === "string" ? about : about !== undefined && "call" in about.about ? about.about.call.id : undefined;
    return board.calls.find((call) => call.id === id);
  };
  const answer = async (about: string | Waiting | undefined): Promise<void> => {
    const call = callOf(about);
    if (call === undefined) return;
    const choices = call.complete ? ["Allow Once", "Deny"] : ["Deny"];
    const choice = await vscode.window.showWarningMessage(`${plain(call.tool)} is waiting for you`, { modal: true, detail: callText(call) }, ...choices);
    if (choice === undefined) return;
    const deny = choice === "Deny" ? ["--deny"] : [];
    await execute(call.folder, ["approve", call.id, ...deny], "The decision was not recorded");
  };
  const { registerCommand } = vscode.commands;
  return [
    registerCommand("onloop.call", answer),
    registerCommand("onloop.stopSession", async ({ id, folder }: SessionCard) => {
      await execute(folder, ["session", "stop", id], "The session was not stopped");
    }),
    registerCommand("onloop.showSession", async ({ id, folder }: SessionCard) => {
      const { result, notes } = await runner.query(folder, ["session", "show", id]);
      const document = await vscode.workspace.openTextDocument({ content: `${result}${notes}` });
      await vscode.window.showTextDocument(document, { preview: true });
    }),
    registerCommand("onloop.openSessionFolder", ({ folder }: SessionCard) =>
      vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(folder), { forceNewWindow: true }),
    ),
  ];
}

function callText({ target, reason, session, folder, complete }: CallCard): string {
  const rest = complete ? "" : "\n[…] The call is longer. Run `onloop approve` in a terminal to see all of it.";
  return `${target}${rest}\n\nReason: ${reason}\nSession ${session}\nin ${folder}`;
}
