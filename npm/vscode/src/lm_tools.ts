/** Registers the tools of `tools.ts` for language models of the editor. */

import type { Core } from "onloop";
import * as vscode from "vscode";
import { runProgram } from "./run_program.js";
import { agentWords } from "./terminal.js";
import { type Input, type Tool, TOOLS, answer } from "./tools.js";
import { type Watcher, folders } from "./watcher.js";

/**
 * Registers every tool, also in an untrusted folder: editors list all tools of the manifest, and a
 * condition there breaks the list. `watcher` returns `undefined` in an untrusted folder.
 */
export function registerTools(core: () => Promise<Core>, watcher: () => Promise<Watcher | undefined>): vscode.Disposable[] {
  const names = Object.keys(TOOLS);
  return names.map((name) => vscode.lm.registerTool<Input>(name, new LmTool(core, watcher, name)));
}

class LmTool implements vscode.LanguageModelTool<Input> {
  readonly tool: Tool;

  constructor(
    readonly core: () => Promise<Core>,
    readonly watcher: () => Promise<Watcher | undefined>,
    readonly name: keyof typeof TOOLS & string,
  ) {
    this.tool = TOOLS[name]!;
  }

  prepareInvocation({ input }: vscode.LanguageModelToolInvocationPrepareOptions<Input>): vscode.PreparedToolInvocation {
    const invocationMessage = this.tool.doing(input);
    const question = this.tool.question?.(input);
    if (question === undefined) return { invocationMessage };
    const { title, message } = question;
    return { invocationMessage, confirmationMessages: { title, message: new vscode.MarkdownString(message) } };
  }

  async invoke(
    { input }: vscode.LanguageModelToolInvocationOptions<Input>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const watcher = await this.watcher();
    if (watcher === undefined) throw new Error("onloop does not run in a workspace that is not trusted");
    const folder = folders()[0];
    if (folder === undefined) throw new Error("no folder on a disk is open");
    const argv = this.tool.argv(input, agentWords());
    if (this.name === "onloop_gate" && autoApproves() && !(await this.#asked(input))) {
      throw new vscode.CancellationError();
    }
    const controller = new AbortController();
    const cancelled = token.onCancellationRequested(() => controller.abort());
    try {
      const listener = { note: () => watcher.soon() };
      const ended = await runProgram(await this.core(), { folder, argv, listener, signal: controller.signal });
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(answer(ended))]);
    } finally {
      cancelled.dispose();
      watcher.soon();
    }
  }

  /** Asks the person, because the editor does not. */
  async #asked(input: Input): Promise<boolean> {
    const question = this.tool.question?.(input);
    if (question === undefined) return true;
    const detail = question.message.replaceAll("*", "");
    return (await vscode.window.showWarningMessage(question.title, { modal: true, detail }, "Confirm")) === "Confirm";
  }
}

/** Whether the editor confirms every tool automatically. Only a person decides a gate. */
function autoApproves(): boolean {
  const tools = vscode.workspace.getConfiguration("chat.tools");
  return [tools.get("autoApprove"), tools.get("global.autoApprove")].includes(true);
}
