/** `@rw-auto`: planner and loop in turns, played by the language model of the conversation. */

import type { ProcessSpec, ProcessTurn } from "onloop";
import * as vscode from "vscode";
import { type Message, type Model, type Part, captured, converse } from "./chat_agent.js";
import { type Programs, conduct } from "./conduct.js";
import { lastWords } from "./screen.js";
import { folders } from "./watcher.js";

/** The command line that stands for the model; no shell ever sees it. */
const AGENT = "the language model of this conversation";

export function registerChat(core: Programs): vscode.Disposable {
  return vscode.chat.createChatParticipant("onloop.rwAuto", async (request, _context, stream, token) => {
    const folder = folders()[0];
    if (!vscode.workspace.isTrusted || folder === undefined) {
      stream.markdown("Nothing runs here: open a folder on a disk and trust it.");
      return;
    }
    const controller = new AbortController();
    const cancelled = token.onCancellationRequested(() => controller.abort());
    const model = new ChatModel(request, token);
    const play = (spec: ProcessSpec): Promise<ProcessTurn> | undefined => {
      const isAgent = "line" in spec.command && spec.command.line === AGENT;
      return isAgent ? act(model, spec, stream, token) : undefined;
    };
    const words = request.prompt.trim();
    const argv = ["auto", "--agent-command", AGENT, ...(words === "" ? [] : ["--", words])];
    // Tokens, one a line: none of their lines can end the block.
    const listener = { result: (text: string) => stream.markdown(`\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n\n`) };
    try {
      const { exit, notes } = await conduct(core, { folder, argv, listener, play, signal: controller.signal });
      if (exit !== 0) stream.markdown(`\n\nexit ${exit}. ${lastWords(notes, "")}`);
    } finally {
      cancelled.dispose();
    }
  });
}

/** A child agent's turn: its prompt goes to the model, what that says is its output. */
async function act(
  model: Model,
  { stdin, envSet, captureBytes }: ProcessSpec,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<ProcessTurn> {
  stream.progress(`${envSet["ONLOOP_AUTO_TARGET"]} works`);
  const started = Date.now();
  const end = (status: { exited: number } | "interrupted", text: string): ProcessTurn => {
    const stdout = captured(text, captureBytes);
    return { status, stdout, stderr: captured("", 0), durationMs: Date.now() - started };
  };
  try {
    const said = await converse(model, new TextDecoder().decode(stdin), (words) => stream.markdown(words));
    return end(token.isCancellationRequested ? "interrupted" : { exited: 0 }, said);
  } catch (error) {
    if (token.isCancellationRequested) return end("interrupted", "");
    return end({ exited: 1 }, error instanceof Error ? error.message : String(error));
  }
}

/** The model that the person chose, with the tools that the editor has. */
class ChatModel implements Model {
  constructor(
    readonly request: vscode.ChatRequest,
    readonly token: vscode.CancellationToken,
  ) {}

  async *say(messages: Message[]): AsyncIterable<Part> {
    const tools = vscode.lm.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      ...(inputSchema !== undefined && { inputSchema }),
    }));
    const response = await this.request.model.sendRequest(messages.map(toEditor), { tools }, this.token);
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) yield { text: part.value };
      else if (part instanceof vscode.LanguageModelToolCallPart) {
        yield { call: part.callId, tool: part.name, input: part.input };
      }
    }
  }

  async use(tool: string, input: object): Promise<unknown> {
    const { toolInvocationToken } = this.request;
    try {
      const { content } = await vscode.lm.invokeTool(tool, { input, toolInvocationToken }, this.token);
      return content;
    } catch (error) {
      if (this.token.isCancellationRequested) throw error;
      const why = error instanceof Error ? error.message : String(error);
      return [new vscode.LanguageModelTextPart(`the tool failed: ${why}`)];
    }
  }
}

function toEditor(message: Message): vscode.LanguageModelChatMessage {
  switch (message.from) {
    case "user":
      return vscode.LanguageModelChatMessage.User(message.text);
    case "model":
      return vscode.LanguageModelChatMessage.Assistant(
        message.parts.map((part) =>
          "text" in part
            ? new vscode.LanguageModelTextPart(part.text)
            : new vscode.LanguageModelToolCallPart(part.call, part.tool, part.input),
        ),
      );
    case "tools":
      return vscode.LanguageModelChatMessage.User(
        message.results.map(({ call, result }) => {
          const content = result as (vscode.LanguageModelTextPart | vscode.LanguageModelPromptTsxPart)[];
          return new vscode.LanguageModelToolResultPart(call, content);
        }),
      );
  }
}
