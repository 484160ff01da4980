/**
 * Activates the extension when it is needed: when a Markdown document is open, a command or view
 * (`LazyTree`) is used, or a run starts in the folder.
 */

import * as vscode from "vscode";

/** Files of runs, tasks and sessions. */
const ONLOOP_FILES = "**/{.hotl,.ai/PROGRESS.md,.tmp/hooked-sessions}";

export interface Activated {
  /** `undefined` in a folder that is not trusted. */
  tasks: vscode.TaskProvider | undefined;
}

export class ActivationTriggers implements vscode.Disposable {
  readonly #open: () => Promise<Activated>;
  readonly #triggers: vscode.Disposable[];

  /** `open` activates the extension and disposes these triggers; `commands` are those of the manifest. */
  constructor(open: () => Promise<Activated>, commands: string[]) {
    this.#open = open;
    const trigger = (): void => void open();
    const files = vscode.workspace.createFileSystemWatcher(ONLOOP_FILES, false, true, true);
    this.#triggers = [
      vscode.workspace.onDidOpenTextDocument(({ languageId }) => void (languageId === "markdown" && trigger())),
      vscode.workspace.onDidChangeWorkspaceFolders(trigger),
      vscode.workspace.onDidGrantWorkspaceTrust(trigger),
      files,
      files.onDidCreate(trigger),
    ];
    // An untrusted folder has no commands.
    if (vscode.workspace.isTrusted) this.#triggers.push(...this.#placeholders(commands));
  }

  dispose(): void {
    this.#triggers.splice(0).forEach((trigger) => trigger.dispose());
  }

  #placeholders(commands: string[]): vscode.Disposable[] {
    const open = this.#open;
    const command = (name: string): vscode.Disposable =>
      vscode.commands.registerCommand(name, async (...words: unknown[]) => {
        await open();
        return vscode.commands.executeCommand(name, ...words);
      });
    const tasks: vscode.TaskProvider = {
      provideTasks: async (token) => (await open()).tasks?.provideTasks(token),
      resolveTask: async (task, token) => (await open()).tasks?.resolveTask(task, token),
    };
    return [...commands.map(command), vscode.tasks.registerTaskProvider("onloop", tasks)];
  }
}
