/** `@rw-auto`: planner and loop in turns, played by the language model of the conversation. */

import type { Core, Outcome, ProcessRequest, Task } from "onloop";
import * as vscode from "vscode";
import { type Message, type Model, type Part, TURNS, captured, converse } from "./chat_agent.js";
import { CHAT_TOOLS, type Surroundings, isChatTool, useChatTool } from "./chat_tools.js";
import { conduct } from "./conduct.js";
import { confinement } from "./confinement.js";
import { EXIT } from "./ended.js";
import { lastWords, plain, spelled } from "./screen.js";
import { folders } from "./watcher.js";

/** The command line that stands for the model; no shell ever sees it. */
const AGENT = "the language model of this conversation";
/** What was the matter with a request, and what became of it. */
interface Said {
  next: "go-on" | "init" | "none";
}

export function registerChat(core: () => Promise<Core>): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant("onloop.rwAuto", async (request, _context, stream, token) => {
    const folder = folders()[0];
    if (!vscode.workspace.isTrusted || folder === undefined) {
      return failed("Nothing runs here: open a folder on a disk and trust it.", "none");
    }
    const controller = new AbortController();
    const cancelled = token.onCancellationRequested(() => controller.abort());
    try {
      if (request.command === "tasks") return await tellTasks(await core(), folder, stream);
      return await work(await core(), folder, request, stream, token, controller.signal);
    } finally {
      cancelled.dispose();
    }
  });
  participant.iconPath = new vscode.ThemeIcon("rocket");
  participant.followupProvider = {
    provideFollowups: ({ metadata }) => {
      switch ((metadata as Said | undefined)?.next) {
        case "init":
          return [{ prompt: "", command: "init", label: "Lay out .ai/ here" }];
        case "go-on":
          return [{ prompt: "", label: "Go on" }, { prompt: "", command: "tasks", label: "Show the tasks" }];
        default:
          return [];
      }
    },
  };
  return participant;
}

function failed(message: string, next: Said["next"]): vscode.ChatResult {
  return { errorDetails: { message }, metadata: { next } satisfies Said };
}

/** Planner and loop in turns, or one of the small verbs. */
async function work(
  core: Core,
  folder: string,
  request: vscode.ChatRequest,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
  signal: AbortSignal,
): Promise<vscode.ChatResult> {
  const confine = await confinement(folder);
  const model = new ChatModel(request, token, {
    core,
    folder,
    confine,
    signal,
    ask: askPerson,
    doing: (words) => stream.progress(words),
  });
  const play = (request: ProcessRequest): Promise<Outcome> | undefined => {
    const isAgent = "line" in request.command && request.command.line === AGENT;
    return isAgent ? act(model, request, stream, token) : undefined;
  };
  const words = request.prompt.trim();
  const small = request.command === "init" || request.command === "route" ? request.command : undefined;
  const asked = small === undefined ? ["--agent-command", AGENT, ...(words === "" ? [] : ["--", words])] : [small];
  // Tokens, one a line: none of their lines can end the block.
  const listener = { result: (text: string) => stream.markdown(`\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n\n`) };
  const { exit, notes } = await conduct(core, { folder, argv: ["auto", ...asked], listener, play, signal });
  if (token.isCancellationRequested) return { metadata: { next: "go-on" } satisfies Said };
  if (exit === EXIT.done) return { metadata: { next: small === undefined ? "none" : "go-on" } satisfies Said };
  const isLaidOut = await vscode.workspace.fs.stat(vscode.Uri.joinPath(vscode.Uri.file(folder), ".ai")).then(
    () => true,
    () => false,
  );
  return failed(`exit ${exit}: ${lastWords(notes, "")}`, isLaidOut ? "go-on" : "init");
}

async function tellTasks(core: Core, folder: string, stream: vscode.ChatResponseStream): Promise<vscode.ChatResult> {
  const uri = vscode.Uri.joinPath(vscode.Uri.file(folder), ".ai", "PROGRESS.md");
  const bytes = await vscode.workspace.fs.readFile(uri).then((bytes) => bytes, () => undefined);
  if (bytes === undefined) return failed("There are no tasks here: `.ai/PROGRESS.md` is missing.", "init");
  const { rows, next } = core.readProgress(new TextDecoder().decode(bytes));
  const line = ({ id, title, status }: Task): string => `- ${cell(id)} ${cell(title)}: ${cell(status)}`;
  stream.markdown(rows.length === 0 ? "No task is planned yet.\n" : `${rows.map(line).join("\n")}\n\n`);
  if (next !== null) stream.markdown(`Next: ${cell(next.id)}.\n`);
  stream.reference(uri);
  return { metadata: { next: "go-on" } satisfies Said };
}

function cell(text: string): string {
  return plain(text).replace(/[\\`*_[\]<>|]/g, "\\$&");
}

/** A command that no rule decides is a person's. */
async function askPerson(what: string, why: string): Promise<boolean> {
  const detail = `${spelled(what)}\n\n${spelled(why)}`;
  const choice = await vscode.window.showWarningMessage("@rw-auto wants to do this", { modal: true, detail }, "Allow Once");
  return choice === "Allow Once";
}

/** A child agent's turn: its prompt goes to the model, what that says is its output. */
async function act(
  model: ChatModel,
  { stdin, env_set: env, capture_bytes: captureBytes }: ProcessRequest,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<Outcome> {
  stream.progress(`${env["ONLOOP_AUTO_TARGET"]} works`);
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

/** Most turns of planner and of loop. */
function mostTurns(): number {
  const set = vscode.workspace.getConfiguration("onloop").get<number>("chat.maxTurns", 60);
  return Math.min(Math.max(1, Math.floor(set)), TURNS);
}

/** The model that the person chose, with tools of its own and those that the person named. */
class ChatModel implements Model {
  constructor(
    readonly request: vscode.ChatRequest,
    readonly token: vscode.CancellationToken,
    readonly around: Surroundings,
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

  /** What the person has attached, for the prompt. */
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
