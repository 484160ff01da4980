/** Contributes `onloop mcp` as a server of tools, in editors that take servers from extensions. */

import * as vscode from "vscode";
import { type McpServer, mcpServer } from "./mcp_command.js";
import { logError } from "./output.js";
import { installLauncher } from "./terminal_path.js";
import { folders } from "./watcher.js";

const ID = "onloop.mcp";

/** The API that VS Code has since 1.101. */
interface McpApi {
  lm: {
    registerMcpServerDefinitionProvider?(id: string, provider: McpProvider): vscode.Disposable;
  };
  McpStdioServerDefinition: new (
    label: string,
    command: string,
    args: string[],
    env: McpServer["env"],
    version: string,
  ) => { cwd?: vscode.Uri };
}

interface McpProvider {
  onDidChangeMcpServerDefinitions: vscode.Event<void>;
  provideMcpServerDefinitions(): Promise<object[]>;
}

/** Contributes the server where the editor takes it. */
export function registerMcpServer(context: vscode.ExtensionContext): vscode.Disposable {
  try {
    return register(context);
  } catch (error) {
    // VS Code 1.100 has the function for extensions of its own only.
    logError("the MCP server is not offered", error);
    return vscode.Disposable.from();
  }
}

/** The tools work in the first folder of the window, and in no untrusted one. */
function register(context: vscode.ExtensionContext): vscode.Disposable {
  const { lm, McpStdioServerDefinition } = vscode as unknown as McpApi;
  if (lm.registerMcpServerDefinitionProvider === undefined) return vscode.Disposable.from();
  const changes = new vscode.EventEmitter<void>();
  const change = (): void => changes.fire();
  const provider = lm.registerMcpServerDefinitionProvider(ID, {
    onDidChangeMcpServerDefinitions: changes.event,
    provideMcpServerDefinitions: async () => {
      const folder = folders()[0];
      if (folder === undefined || !vscode.workspace.isTrusted) return [];
      const agent = vscode.workspace.getConfiguration("onloop").get<string>("agent", "");
      const { program, launcher } = await installLauncher(context);
      const { command, args, env } = mcpServer({ node: process.execPath, program, launcher, agent, env: process.env });
      const { version } = context.extension.packageJSON as { version: string };
      const server = new McpStdioServerDefinition("onloop", command, args, env, version);
      server.cwd = vscode.Uri.file(folder);
      return [server];
    },
  });
  return vscode.Disposable.from(
    provider,
    changes,
    vscode.workspace.onDidGrantWorkspaceTrust(change),
    vscode.workspace.onDidChangeWorkspaceFolders(change),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("onloop.agent") && change()),
  );
}
