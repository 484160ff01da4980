// `@rw-auto` in a real chat, with a scripted model.

import * as vscode from "vscode";
import { at, equal, extension, read, test, until } from "./harness.js";

export { activate } from "./harness.js";

const PROGRESS = ".ai/PROGRESS.md";
const prompts = [];
let tools;

/** Planner and loop: a tool call first, and then the line that onloop waits for. */
const MODEL = {
  async provideLanguageModelResponse(messages, options, _extension, progress) {
    const [first] = messages;
    const prompt = first.content.map(({ value }) => value).join("");
    const isPlanner = prompt.includes("add a greeting");
    const isFirst = messages.length === 1;
    if (isFirst) prompts.push(isPlanner ? "rw-planner" : "rw-loop");
    tools = options.tools.map(({ name }) => name);
    const edit = isPlanner
      ? { old: "|--------|\n", new: "|--------|\n| TASK-01 | Greeting | pending | - |\n" }
      : { old: "| pending |", new: "| completed |" };
    const part = isFirst
      ? new vscode.LanguageModelToolCallPart("1", "rw_edit", { path: PROGRESS, ...edit })
      : new vscode.LanguageModelTextPart(isPlanner ? "NEXT_COMMAND=rw-loop" : "REVIEW_STATUS=OK\nNEXT_COMMAND=done");
    progress.report({ index: 0, part });
  },
  provideTokenCount: async () => 1,
};

test("the model of the conversation is planner and loop", async () => {
  await extension().activate();
  vscode.chat.createChatParticipant("onloop-tests.default", async () => ({}));
  const about = { vendor: "test", name: "Test", family: "test", version: "1", maxInputTokens: 100_000, maxOutputTokens: 100_000 };
  vscode.lm.registerChatModelProvider("test", MODEL, { ...about, isDefault: true, isUserSelectable: true, capabilities: { toolCalling: true } });
  const models = async () => ((await vscode.lm.selectChatModels({ vendor: "test" })).length > 0 ? true : undefined);
  await until(vscode.lm.onDidChangeChatModels, models, "a model");
  const watcher = vscode.workspace.createFileSystemWatcher("**/PROGRESS.md");
  // A watcher may report a replaced file as new.
  const changed = (heard) => vscode.Disposable.from(watcher.onDidChange(heard), watcher.onDidCreate(heard));
  const completed = until(
    changed,
    async () => ((await read(at(PROGRESS))).includes("| TASK-01 | Greeting | completed |") ? true : undefined),
    "a task that is completed",
  );
  await vscode.commands.executeCommand("workbench.action.chat.open", { query: "@rw-auto add a greeting" });
  await completed;
  equal(prompts, ["rw-planner", "rw-loop"]);
  // The person named no other tools.
  equal(tools, ["rw_read", "rw_list", "rw_search", "rw_write", "rw_edit", "rw_run"]);
});
