/** `@rw-auto`: the language model of the conversation is planner and loop in turns. */

import type { Core, Outcome, ProcessRequest, Task } from "onloop";
import * as vscode from "vscode";
import { type Message, type Model, type Part, TURNS, captured, converse } from "./chat_agent.js";
import { CHAT_TOOLS, type ToolContext, isChatTool, useChatTool } from "./chat_tools.js";
import { runProgram } from "./run_program.js";
import { sandboxCommand } from "./sandbox.js";
import { EXIT } from "./program_result.js";
import { lastLines, plain, escapeInvisible } from "./text.js";
import { folders } from "./watcher.js";

/** Stands for the model as agent command. `runProgram` replaces it, so that no shell runs it. */
const AGENT = "the language model of this conversation";
/** Selects the follow-ups of a request. */
interface ChatMetadata {
  next: "continue" | "init" | "none";
}

export function registerChat(core: () => Promise<Core>): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant("onloop.rwAuto", async (request, _context, stream, token) => {
    const folder = folders()[0];
    if (!vscode.workspace.isTrusted || folder === undefined) {
      return failed("onloop runs only in a trusted folder on a disk. Open one first.", "none");
    }
    const controller = new AbortController();
    const cancelled = token.onCancellationRequested(() => controller.abort());
    try {
      if (request.command === "tasks") return await showTasks(await core(), folder, stream);
      return await work(await core(), folder, request, stream, token, controller.signal);
    } finally {
      cancelled.dispose();
    }
  });
  participant.iconPath = new vscode.ThemeIcon("rocket");
  participant.followupProvider = {
    provideFollowups: ({ metadata }) => {
      switch ((metadata as ChatMetadata | undefined)?.next) {
        case "init":
          return [{ prompt: "", command: "init", label: "Create the files below .ai/" }];
        case "continue":
          return [{ prompt: "", label: "Continue" }, { prompt: "", command: "tasks", label: "Show the tasks" }];
        default:
          return [];
      }
    },
  };
  return participant;
}

function failed(message: string, next: ChatMetadata["next"]): vscode.ChatResult {
  return { errorDetails: { message }, metadata: { next } satisfies ChatMetadata };
}

/** Runs `onloop auto`, or one of its short verbs. */
async function work(
  core: Core,
  folder: string,
  request: vscode.ChatRequest,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
  signal: AbortSignal,
): Promise<vscode.ChatResult> {
  const confine = await sandboxCommand(folder);
  const model = new ChatModel(request, token, {
    core,
    folder,
    confine,
    signal,
    ask: askPerson,
    doing: (words) => stream.progress(words),
  });
  const replaceProcess = (request: ProcessRequest): Promise<Outcome> | undefined => {
    const isAgent = "line" in request.command && request.command.line === AGENT;
    return isAgent ? act(model, request, stream, token) : undefined;
  };
  const words = request.prompt.trim();
  const verb = request.command === "init" || request.command === "route" ? request.command : undefined;
  const asked = verb === undefined ? ["--agent-command", AGENT, ...(words === "" ? [] : ["--", words])] : [verb];
  // The result has one token on each line, so no line can end the code block.
  const listener = { result: (text: string) => stream.markdown(`\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n\n`) };
  const { exit, notes } = await runProgram(core, { folder, argv: ["auto", ...asked], listener, replaceProcess, signal });
  if (token.isCancellationRequested) return { metadata: { next: "continue" } satisfies ChatMetadata };
  if (exit === EXIT.done) return { metadata: { next: verb === undefined ? "none" : "continue" } satisfies ChatMetadata };
  const isInitialized = await vscode.workspace.fs.stat(vscode.Uri.joinPath(vscode.Uri.file(folder), ".ai")).then(
    () => true,
    () => false,
  );
  return failed(`exit ${exit}: ${lastLines(notes, "")}`, isInitialized ? "continue" : "init");
}

async function showTasks(core: Core, folder: string, stream: vscode.ChatResponseStream): Promise<vscode.ChatResult> {
  const uri = vscode.Uri.joinPath(vscode.Uri.file(folder), ".ai", "PROGRESS.md");
  const bytes = await vscode.workspace.fs.readFile(uri).then((bytes) => bytes, () => undefined);
  if (bytes === undefined) return failed("This folder has no tasks: `.ai/PROGRESS.md` does not exist.", "init");
  const { rows, next } = core.readProgress(new TextDecoder().decode(bytes));
  const line = ({ id, title, status }: Task): string => `- ${cell(id)} ${cell(title)}: ${cell(status)}`;
  stream.markdown(rows.length === 0 ? "No tasks are planned yet.\n" : `${rows.map(line).join("\n")}\n\n`);
  if (next !== null) stream.markdown(`Next: ${cell(next.id)}.\n`);
  stream.reference(uri);
  return { metadata: { next: "continue" } satisfies ChatMetadata };
}

function cell(text: string): string {
  return plain(text).replace(/[\\`*_[\]<>|]/g, "\\$&");
}

/** Asks the person about a call that no rule decides. */
async function askPerson(what: string, why: string): Promise<boolean> {
  const detail = `${escapeInvisible(what)}\n\n${escapeInvisible(why)}`;
  const choice = await vscode.window.showWarningMessage("@rw-auto asks for permission", { modal: true, detail }, "Allow Once");
  return choice === "Allow Once";
}

/** A turn of an agent: the model gets its prompt, and the text of the model is its output. */
async function act(
  model: ChatModel,
  { stdin, env_set: env, capture_bytes: captureBytes }: ProcessRequest,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<Outcome> {
  stream.progress(`Running ${env["ONLOOP_AUTO_TARGET"]}`);
  const started = Date.now();
  const end = (status: { exited: number } | "interrupted", text: string): Outcome => {
    const stdout = captured(text, captureBytes);
    return { is: "process", status, stdout, stderr: captured("", 0), duration_ms: Date.now() - started };
  };
  try {
    const prompt = new TextDecoder().decode(stdin ?? undefined) + model.references();
    const said = await converse(model, prompt, (words) => stream.markdown(words), mostTurns());
    return end(token.isCancellationRequested ? "interrupted" : { exited: 0 }, said);
  } catch (error) {
    if (token.isCancellationRequested) return end("interrupted", "");
    return end({ exited: 1 }, error instanceof Error ? error.message : String(error));
  }
}

/** Most turns of the model in one turn of planner or loop. */
function mostTurns(): number {
  const set = vscode.workspace.getConfiguration("onloop").get<number>("chat.maxTurns", 60);
  return Math.min(Math.max(1, Math.floor(set)), TURNS);
}

/** The model that the person chose, with the built-in tools and those that the person named. */
class ChatModel implements Model {
  constructor(
    readonly request: vscode.ChatRequest,
    readonly token: vscode.CancellationToken,
    readonly around: ToolContext,
  ) {}

  async *say(messages: Message[]): AsyncIterable<Part> {
    const tools = [...CHAT_TOOLS, ...this.#named()];
    const response = await this.request.model.sendRequest(messages.map(toEditor), { tools }, this.token);
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) yield { text: part.value };
      else if (part instanceof vscode.LanguageModelToolCallPart) {
        yield { call: part.callId, tool: part.name, input: part.input };
      }
    }
  }

  async use(tool: string, input: object): Promise<unknown> {
    if (isChatTool(tool)) return this.refuse(await useChatTool(tool, input, this.around));
    if (!this.#named().some(({ name }) => name === tool)) return this.refuse(`there is no tool \`${tool}\``);
    const { toolInvocationToken } = this.request;
    try {
      const { content } = await vscode.lm.invokeTool(tool, { input, toolInvocationToken }, this.token);
      return content;
    } catch (error) {
      if (this.token.isCancellationRequested) throw error;
      return this.refuse(`the tool failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  refuse(why: string): unknown {
    return [new vscode.LanguageModelTextPart(why)];
  }

  /** The references of the person, for the prompt. */
  references(): string {
    const named = this.request.references.flatMap(({ value }) => {
      if (value instanceof vscode.Uri) return [vscode.workspace.asRelativePath(value)];
      if (value instanceof vscode.Location) {
        return [`${vscode.workspace.asRelativePath(value.uri)}, line ${value.range.start.line + 1}`];
      }
      return typeof value === "string" ? [value] : [];
    });
    return named.length === 0 ? "" : `\n\nThe person refers to:\n${named.map((name) => `- ${name}`).join("\n")}\n`;
  }

  /** Tools of the editor, by `#name` in the request. */
  #named(): vscode.LanguageModelChatTool[] {
    const wanted = new Set(this.request.toolReferences.map(({ name }) => name));
    return vscode.lm.tools.flatMap(({ name, description, inputSchema }) =>
      wanted.has(name) ? [{ name, description, ...(inputSchema !== undefined && { inputSchema }) }] : [],
    );
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
