
// For one turn of a run: says in the turn's own stream what opencode leaves out of it, such as
// waits for the provider, calls that begin, and the work of sub-agents.

const children = new Set();

function watched(session, more) {
  const line = { type: "onloop", at: Date.now(), session, child: children.has(session), ...more };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** What a call does, without the content of files. */
function short(input) {
  const entries = Object.entries(input ?? {});
  return Object.fromEntries(entries.filter(([, value]) => typeof value === "string" && value.length <= 1000));
}

const OBSERVED = {
  "session.created": ({ info }) => {
    if (info.parentID) children.add(info.id);
  },
  "session.status": ({ sessionID, status }) => watched(sessionID, { status }),
  "message.updated": ({ info }) => {
    const { id, sessionID, role, modelID, cost, tokens, finish, time } = info;
    if (role !== "assistant" || (finish === undefined && time?.completed === undefined)) return;
    watched(sessionID, { message: { id, modelID, cost, tokens } });
  },
};

export const OnloopWatch = async () => ({
  "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
    watched(sessionID, { call: { id: callID, tool, input: short(args) } });
  },
  "tool.execute.after": async ({ tool, sessionID, callID }) => {
    watched(sessionID, { call: { id: callID, tool, ended: true } });
  },
  event: async ({ event }) => {
    try {
      OBSERVED[event.type]?.(event.properties);
    } catch {
      // Another version's event: the turn goes on without it.
    }
  },
});
