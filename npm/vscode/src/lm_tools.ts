/** The tools of `tools.ts`, for language models of the editor. */

import type { Core } from "onloop";
import * as vscode from "vscode";
import { conduct } from "./conduct.js";
import { agentWords } from "./runner.js";
import { type Input, type Tool, TOOLS, answer } from "./tools.js";
import { type Watcher, folders } from "./watcher.js";

/**
 * Every tool. They are there before the folder is trusted, because editors list what a manifest names
 * and a condition there breaks their list; `watcher` is there when they may do something.
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
    if (watcher === undefined) throw new Error("nothing runs in a workspace that is not trusted");
    const folder = folders()[0];
    if (folder === undefined) throw new Error("no folder on a disk is open");
    const argv = this.tool.argv(input, agentWords());
    if (this.name === "onloop_gate" && confirmsItself() && !(await this.#asked(input))) {
      throw new vscode.CancellationError();
    }
    const controller = new AbortController();
    const cancelled = token.onCancellationRequested(() => controller.abort());
    try {
      const listener = { note: () => watcher.soon() };
      const ended = await conduct(await this.core(), { folder, argv, listener, signal: controller.signal });
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(answer(ended))]);
    } finally {
      cancelled.dispose();
      watcher.soon();
    }
  }

  /** A person, where the editor would not ask one. */
  async #asked(input: Input): Promise<boolean> {
    const question = this.tool.question?.(input);
    if (question === undefined) return true;
    const detail = question.message.replaceAll("*", "");
    return (await vscode.window.showWarningMessage(question.title, { modal: true, detail }, "Confirm")) === "Confirm";
  }
}

/** Whether the editor was told to confirm every tool by itself. A gate is a person's. */
function confirmsItself(): boolean {
  const tools = vscode.workspace.getConfiguration("chat.tools");
  return [tools.get("autoApprove"), tools.get("global.autoApprove")].includes(true);
}
