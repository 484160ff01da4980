/**
 * The extension in a window where there is nothing for it to do: it loads nothing before somebody opens
 * a Markdown document, uses a command, looks at a view (`LateTree`), or a run begins here.
 */

import * as vscode from "vscode";

/** What marks a run, tasks or sessions as soon as they are there. */
const TRACES = "**/{.hotl,.ai/PROGRESS.md,.tmp/hooked-sessions}";

/** What is there behind the door. */
export interface Inside {
  tasks: vscode.TaskProvider | undefined;
}

export class Door implements vscode.Disposable {
  readonly #open: () => Promise<Inside>;
  readonly #waiting: vscode.Disposable[];

  /** `open` begins everything and closes this; `commands` are those of the manifest. */
  constructor(open: () => Promise<Inside>, commands: string[]) {
    this.#open = open;
    const knock = (): void => void open();
    const files = vscode.workspace.createFileSystemWatcher(TRACES, false, true, true);
    this.#waiting = [
      vscode.workspace.onDidOpenTextDocument(({ languageId }) => void (languageId === "markdown" && knock())),
      vscode.workspace.onDidChangeWorkspaceFolders(knock),
      vscode.workspace.onDidGrantWorkspaceTrust(knock),
      files,
      files.onDidCreate(knock),
    ];
    // Before somebody trusts the folder there are no commands.
    if (vscode.workspace.isTrusted) this.#waiting.push(...this.#stand(commands));
  }

  dispose(): void {
    this.#waiting.splice(0).forEach((waiting) => waiting.dispose());
  }

  #stand(commands: string[]): vscode.Disposable[] {
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
