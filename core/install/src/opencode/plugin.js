// Installed by onloop; `onloop uninstall opencode` removes it.
//
// Asks onloop about every tool call, and sends a session on that is not finished. A call about
// which onloop gives no clear answer does not run.

import { spawn } from "node:child_process";

const HOOK = ["onloop", "hook", "opencode"];
const PATIENCE_MS = 600_000;

/** Sends one event; what onloop answers, or `undefined` where it has no opinion. */
function ask(event) {
  return new Promise((resolve, reject) => {
    const child = spawn(HOOK[0], HOOK.slice(1), { stdio: ["pipe", "pipe", "ignore"], cwd: event.cwd });
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    let said = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (text) => (said += text));
    // A hook that has no interest may close its input.
    child.stdin.on("error", () => undefined);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      if (code !== 0) return reject(new Error(`the hook ended with ${code}`));
      try {
        resolve(said.trim() === "" ? undefined : JSON.parse(said));
      } catch {
        reject(new Error("the hook's answer is no JSON"));
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}

/** Asks about a call. Whatever goes wrong is a refusal. */
async function judge(event) {
  try {
    const answer = await ask(event);
    if (["allow", "deny", "ask"].includes(answer?.decision)) return answer;
    return { decision: "deny", reason: "onloop gave no answer" };
  } catch (error) {
    return { decision: "deny", reason: `onloop could not be asked: ${error.message}` };
  }
}

/** For events that nothing depends on. */
async function tell(event) {
  try {
    return await ask(event);
  } catch {
    return undefined;
  }
}

export const Onloop = async ({ client, directory, worktree }) => {
  const cwd = directory ?? worktree ?? process.cwd();
  // A sub-agent has a session of its own; what it does, it does for the one that started it.
  const parents = new Map();
  const top = (id) => (parents.has(id) ? top(parents.get(id)) : id);
  /** Shows a message, where there is somebody to see it. */
  const show = async (message) => {
    try {
      await client.tui.showToast({ body: { title: "onloop", message, variant: "warning" } });
    } catch {
      // Nobody looks at this session.
    }
  };
  return {
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const of = { session_id: top(sessionID), call_id: callID, cwd };
      const event = { event: "tool.execute.before", ...of, tool, input: args };
      const { decision, reason, input } = await judge(event);
      // What needs a person is left to opencode's own permissions.
      if (decision === "deny") throw new Error(reason);
      // The same call, confined.
      if (decision === "allow" && input !== undefined) Object.assign(args, input);
    },
    "permission.ask": async (permission, output) => {
      const { type, sessionID, metadata } = permission;
      const id = top(sessionID);
      const event = { event: "permission.ask", session_id: id, cwd, tool: type, input: metadata };
      output.status = (await judge(event)).decision;
    },
    "tool.execute.after": async ({ tool, sessionID, args }, { output }) => {
      const input = args ?? {};
      await tell({ event: "tool.execute.after", session_id: top(sessionID), cwd, tool, input, output });
    },
    "chat.message": async ({ sessionID, messageID }, { parts }) => {
      if (parents.has(sessionID)) return;
      const text = (parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
      const event = { event: "chat.message", session_id: sessionID, cwd, text, message_id: messageID };
      const answer = await tell(event);
      if (answer?.message !== undefined) await show(answer.message);
    },
    "experimental.session.compacting": async ({ sessionID }, { context }) => {
      const answer = await tell({ event: "session.compacting", session_id: sessionID, cwd });
      if (answer?.context !== undefined) context.push(answer.context);
    },
    event: async ({ event }) => {
      if (event.type === "session.created") {
        const { id, parentID } = event.properties.info ?? {};
        if (parentID !== undefined) parents.set(id, parentID);
      }
      if (event.type !== "session.idle" || parents.has(event.properties.sessionID)) return;
      const id = event.properties.sessionID;
      const answer = await tell({ event: "session.idle", session_id: id, cwd });
      if (answer?.message !== undefined) await show(answer.message);
      if (answer?.continue !== true) return;
      await client.session.prompt({
        path: { id },
        body: { parts: [{ type: "text", text: answer.prompt }] },
      });
    },
  };
};
