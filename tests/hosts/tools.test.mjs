// `onloop mcp` in real clients: its tools are there, and are called.

import assert from "node:assert/strict";
import { claude, codex, onloop, opencode } from "./clients.mjs";
import { source } from "./plugins.mjs";
import { callsTools } from "./runs.mjs";

const install = (client) => (place) => onloop(place, "install", client.name);

callsTools(opencode, install(opencode), (tool, input) => [{ tool: `onloop_${tool}`, input }]);

callsTools(codex, install(codex), (tool, input) => [{ tool, namespace: "mcp__onloop", input }], () => ({
  words: [codex.trusted],
}));

async function plugin(place) {
  for (const words of [["marketplace", "add", source()], ["install", "hotl@onloop"]]) {
    const said = await claude.plugin(place, ...words);
    assert.equal(said.code, 0, said.stdout + said.stderr);
  }
}

// The client shows its model the tools of servers only when it asks for them.
callsTools(claude, plugin, (tool, input) => {
  const name = `mcp__plugin_hotl_onloop__${tool}`;
  return [
    { tool: "ToolSearch", input: { query: `select:${name}`, max_results: 1 } },
    { tool: name, input },
  ];
});
