// `@rw-auto` in a real chat, with a model that says what it is told to.

import * as vscode from "vscode";
import { at, equal, extension, read, test, until } from "./harness.js";

export { activate } from "./harness.js";

const PROGRESS = ".ai/PROGRESS.md";
const prompts = [];

/** Planner and loop: a tool first, and when that has answered, the line that onloop waits for. */
const MODEL = {
  async provideLanguageModelResponse(messages, _options, _extension, progress) {
    const [first] = messages;
    const prompt = first.content.map(({ value }) => value).join("");
    const isPlanner = prompt.includes("add a greeting");
    const isFirst = messages.length === 1;
    if (isFirst) prompts.push(isPlanner ? "rw-planner" : "rw-loop");
    const edit = isPlanner
      ? { old: "|--------|\n", new: "|--------|\n| TASK-01 | Greeting | pending | - |\n" }
      : { old: "| pending |", new: "| completed |" };
    const part = isFirst
      ? new vscode.LanguageModelToolCallPart("1", "test_edit", edit)
      : new vscode.LanguageModelTextPart(isPlanner ? "NEXT_COMMAND=rw-loop" : "REVIEW_STATUS=OK\nNEXT_COMMAND=done");
    progress.report({ index: 0, part });
  },
  provideTokenCount: async () => 1,
};

const EDIT = {
  async invoke({ input }) {
    const text = (await read(at(PROGRESS))).replace(input.old, input.new);
    await vscode.workspace.fs.writeFile(at(PROGRESS), new TextEncoder().encode(text));
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart("done")]);
  },
};

test("planner and loop are played by the model of the conversation", async () => {
  await extension().activate();
  vscode.lm.registerTool("test_edit", EDIT);
  vscode.chat.createChatParticipant("onloop-tests.default", async () => ({}));
  const about = { vendor: "test", name: "Test", family: "test", version: "1", maxInputTokens: 100_000, maxOutputTokens: 100_000 };
  vscode.lm.registerChatModelProvider("test", MODEL, { ...about, isDefault: true, isUserSelectable: true, capabilities: { toolCalling: true } });
  const models = async () => ((await vscode.lm.selectChatModels({ vendor: "test" })).length > 0 ? true : undefined);
  await until(vscode.lm.onDidChangeChatModels, models, "a model");
  const watcher = vscode.workspace.createFileSystemWatcher("**/PROGRESS.md");
  const completed = until(
    watcher.onDidChange,
    async () => ((await read(at(PROGRESS))).includes("| TASK-01 | Greeting | completed |") ? true : undefined),
    "a task that is completed",
  );
  await vscode.commands.executeCommand("workbench.action.chat.open", { query: "@rw-auto add a greeting" });
  await completed;
  equal(prompts, ["rw-planner", "rw-loop"]);
});
