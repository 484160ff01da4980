/** The command line of `onloop mcp`. */

import { isOfEditor } from "./run_program.js";

export interface McpServer {
  command: string;
  args: string[];
  /** What is set; `null` removes a variable. */
  env: Record<string, string | null>;
}

interface Parts {
  /** The Node of the editor. */
  node: string;
  /** The program of the extension. */
  program: string;
  /** What starts it from elsewhere: with this the server starts drivers in the background. */
  launcher: string;
  /** The agent of the settings; empty for the default. */
  agent: string;
  env: Readonly<Record<string, string | undefined>>;
}

export function mcpServer({ node, program, launcher, agent, env }: Parts): McpServer {
  const removed = Object.keys(env).filter(isOfEditor).map((name) => [name, null] as const);
  return {
    command: node,
    args: [program, launcher, "mcp"],
    env: { ...Object.fromEntries(removed), ELECTRON_RUN_AS_NODE: "1", ...(agent !== "" && { ONLOOP_AGENT: agent }) },
  };
}
