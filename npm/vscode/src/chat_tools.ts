/** The built-in tools of `@rw-auto`: they read, search, edit and run below one folder. */

import { spawn } from "node:child_process";
import { lstat, mkdir, readFile, readdir, realpath, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { Core, Ruling, ToolCall } from "onloop";

/** Input that a model wrote; it is not validated yet. */
type Input = Record<string, unknown>;

export interface ChatTool {
  name: string;
  description: string;
  inputSchema: object;
}

export interface ToolContext {
  core: Core;
  /** The top folder. The tools read and write nothing outside. */
  folder: string;
  /** The command line that confines another one, such as `["onloop", "confine", "--"]`; `undefined` without a sandbox. */
  confine: string[] | undefined;
  signal: AbortSignal;
  /** Asks a person about a call that no rule decides. */
  ask(what: string, why: string): Promise<boolean>;
  /** Shows progress to the person. */
  doing(words: string): void;
}

/** Most text of a file or an output that a model gets, in UTF-16 units. */
const SHOWN_UNITS = 32 * 1024;
const READ_BYTES = 4 * 1024 * 1024;
const FOUND = 200;
const VISITED = 20_000;
const COMMAND_MS = 10 * 60_000;
const ASIDE = new Set([".git", "node_modules", ".hotl", ".hotl-worktrees", "target", "dist"]);

const text = (description: string): object => ({ type: "string", description });
const schema = (properties: Record<string, object>, required: string[]): object => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

export const CHAT_TOOLS: ChatTool[] = [
  {
    name: "rw_read",
    description: "Reads a text file of the workspace, whole or from a line on.",
    inputSchema: schema({ path: text("Relative to the workspace folder"), from_line: { type: "integer", minimum: 1 } }, ["path"]),
  },
  {
    name: "rw_list",
    description: "Lists the files and folders in a folder of the workspace; folders end with a slash.",
    inputSchema: schema({ path: text("Relative to the workspace folder; `.` is the folder itself") }, ["path"]),
  },
  {
    name: "rw_search",
    description: "Finds lines that contain a text in the files of the workspace, as PATH:LINE: TEXT.",
    inputSchema: schema({ text: text("Exactly this text, case-sensitive"), path: text("Only below this folder") }, ["text"]),
  },
  {
    name: "rw_write",
    description: "Creates or replaces a whole file. Use rw_edit to change a part of a file.",
    inputSchema: schema({ path: text("Relative to the workspace folder"), content: text("The whole content") }, ["path", "content"]),
  },
  {
    name: "rw_edit",
    description: "Replaces a text that occurs exactly once in a file.",
    inputSchema: schema({ path: text("Relative to the workspace folder"), old: text("The text, with its line breaks"), new: text("The replacement") }, ["path", "old", "new"]),
  },
  {
    name: "rw_run",
    description: "Runs a line of bash in the workspace folder and returns its exit code and output. It may be refused, with the reason.",
    inputSchema: schema({ command: text("One line for bash") }, ["command"]),
  },
];

export const isChatTool = (name: string): boolean => CHAT_TOOLS.some((tool) => tool.name === name);

/** Runs a tool. A failure is returned as text for the model. */
export async function useChatTool(name: string, input: object, around: ToolContext): Promise<string> {
  try {
    return await TOOLS[name]!(input as Input, around);
  } catch (error) {
    if (around.signal.aborted) throw error;
    return `failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const TOOLS: Record<string, (input: Input, around: ToolContext) => Promise<string>> = {
  async rw_read(input, around) {
    const { folder, doing } = around;
    const path = await inside(folder, input);
    const refusal = await refused({ tool: "Read", input: { file_path: path } }, `Read ${shownPath(folder, path)}`, around);
    if (refusal !== undefined) return refusal;
    doing(`Reading ${shownPath(folder, path)}`);
    const lines = (await load(path)).split("\n");
    const from = typeof input["from_line"] === "number" ? input["from_line"] : 1;
    return bounded(lines.slice(from - 1).join("\n"));
  },
  async rw_list(input, { folder }) {
    const path = await inside(folder, input);
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
    return bounded(names.slice(0, FOUND * 5).join("\n")) || "(nothing)";
  },
  async rw_search(input, around) {
    const wanted = word(input, "text");
    const top = await inside(around.folder, { path: input["path"] ?? "." });
    around.doing(`Searching for ${wanted.slice(0, 60)}`);
    const found = await search(around, top, wanted);
    return found.length === 0 ? "not found" : bounded(found.join("\n"));
  },
  async rw_write(input, around) {
    const { folder, doing } = around;
    const path = await inside(folder, input);
    const content = word(input, "content", true);
    const refusal = await refused({ tool: "Write", input: { file_path: path, content } }, `Write ${shownPath(folder, path)}`, around);
    if (refusal !== undefined) return refusal;
    doing(`Writing ${shownPath(folder, path)}`);
    await store(path, content);
    return "written";
  },
  async rw_edit(input, around) {
    const { folder, doing } = around;
    const path = await inside(folder, input);
    const [old, fresh] = [word(input, "old"), word(input, "new", true)];
    const call = { tool: "Edit", input: { file_path: path, old_string: old, new_string: fresh } };
    const refusal = await refused(call, `Edit ${shownPath(folder, path)}`, around);
    if (refusal !== undefined) return refusal;
    doing(`Editing ${shownPath(folder, path)}`);
    const parts = (await load(path)).split(old);
    if (parts.length !== 2) throw new Error(`\`old\` occurs ${parts.length - 1} times, expected exactly once`);
    await store(path, parts.join(fresh));
    return "edited";
  },
  rw_run: runLine,
};

async function runLine(input: Input, around: ToolContext): Promise<string> {
  const command = word(input, "command");
  const confined = around.confine !== undefined;
  const refusal = await refused({ tool: "Bash", input: { command }, confined }, command, around);
  if (refusal !== undefined) return refusal;
  around.doing(`Running ${command.slice(0, 80)}`);
  const { exit, said } = await execute([...(around.confine ?? []), "bash", "-c", command], around);
  return `exit ${exit}\n${bounded(said)}`;
}

/** Why a call is refused; `undefined` if it may run. `what` describes the call to the person. */
async function refused(call: Omit<ToolCall, "cwd" | "config">, what: string, around: ToolContext): Promise<string | undefined> {
  const { decision, reason, rule } = await judge(call, around);
  if (decision === "allow") return undefined;
  if (decision === "deny") return `refused (${rule}): ${reason}`;
  return (await around.ask(what, reason)) ? undefined : "refused: the person did not allow it";
}

/** Decides by the same rules as for other agents. A confined command needs fewer questions. */
async function judge(call: Omit<ToolCall, "cwd" | "config">, { core, folder }: ToolContext): Promise<Ruling> {
  const read = (name: string): Promise<string | undefined> => readFile(join(folder, name), "utf8").catch(() => undefined);
  const [project, local] = await Promise.all([read(".agentize.yaml"), read(".agentize.local.yaml")]);
  const config = { ...(project !== undefined && { project }), ...(local !== undefined && { local }) };
  return core.decide({ ...call, cwd: folder, config });
}

function execute(argv: string[], { folder, signal }: ToolContext): Promise<{ exit: number | string; said: string }> {
  return new Promise((resolve, reject) => {
    const [program, ...words] = argv;
    // A separate process group, so that all its processes can be killed.
    const child = spawn(program!, words, { cwd: folder, detached: true, stdio: ["ignore", "pipe", "pipe"], env: withoutEditor() });
    let said = "";
    const hear = (bytes: Buffer): void => void (said = (said + bytes.toString()).slice(-SHOWN_UNITS * 2));
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    const end = (): void => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // The group has ended already.
      }
    };
    const late = setTimeout(end, COMMAND_MS);
    signal.addEventListener("abort", end);
    child.on("error", reject);
    child.on("close", (code, name) => {
      clearTimeout(late);
      signal.removeEventListener("abort", end);
      resolve({ exit: code ?? name ?? "unknown", said });
    });
  });
}

function withoutEditor(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("VSCODE_") && name !== "ELECTRON_RUN_AS_NODE");
  return Object.fromEntries(kept);
}

async function search(around: ToolContext, top: string, wanted: string): Promise<string[]> {
  const { folder, signal } = around;
  const found: string[] = [];
  const waiting = [top];
  for (let visited = 0; waiting.length > 0 && visited < VISITED && found.length < FOUND; visited += 1) {
    signal.throwIfAborted();
    const path = waiting.pop()!;
    const about = await lstat(path);
    if (about.isDirectory()) {
      const names = await readdir(path);
      waiting.push(...names.filter((name) => !ASIDE.has(name)).sort().reverse().map((name) => join(path, name)));
    } else if (about.isFile() && about.size <= READ_BYTES) {
      const content = await readFile(path, "utf8");
      if (!content.includes(wanted) || content.includes("\0")) continue;
      // A search asks no questions, so files that need one are skipped.
      const { decision } = await judge({ tool: "Read", input: { file_path: path } }, around);
      if (decision !== "allow") continue;
      content.split("\n").forEach((line, at) => {
        if (line.includes(wanted) && found.length < FOUND) found.push(`${shownPath(folder, path)}:${at + 1}: ${line.slice(0, 300)}`);
      });
    }
  }
  return found;
}

/** Resolves a path. Throws if dots or links lead out of the folder, or into `.git` or `.hotl`. */
async function inside(folder: string, input: Input): Promise<string> {
  const top = await realpath(folder);
  const path = resolve(top, word(input, "path"));
  let existing = path;
  const missing: string[] = [];
  while (!(await lstat(existing).then(() => true, () => false))) {
    missing.unshift(basename(existing));
    if (dirname(existing) === existing) break;
    existing = dirname(existing);
  }
  const real = join(await realpath(existing), ...missing);
  if (real !== top && !real.startsWith(top + sep)) throw new Error("the path leads out of the workspace");
  const parts = relative(top, real).toLowerCase().split(sep);
  if (parts.includes(".git") || parts.includes(".hotl")) throw new Error("agents may not use `.git` and `.hotl`");
  return real;
}

async function load(path: string): Promise<string> {
  const { size } = await lstat(path);
  if (size > READ_BYTES) throw new Error(`the file has ${size} bytes; at most ${READ_BYTES} are read`);
  return readFile(path, "utf8");
}

/** Replaces a file in one step, so that readers never see a part. */
async function store(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const mode = await lstat(path).then((about) => about.mode, () => undefined);
  const fresh = join(dirname(path), `.${basename(path)}.${process.pid}.onloop-new`);
  await writeFile(fresh, content, { mode: mode ?? 0o666, flag: "wx" });
  await rename(fresh, path);
}

function word(input: Input, name: string, mayBeEmpty = false): string {
  const value = input[name];
  if (typeof value !== "string" || (!mayBeEmpty && value === "")) throw new Error(`\`${name}\` is missing; expected text`);
  return value;
}

function shownPath(folder: string, path: string): string {
  return relative(folder, path) || ".";
}

function bounded(text: string): string {
  if (text.length <= SHOWN_UNITS) return text;
  const left = text.length - SHOWN_UNITS;
  return `${text.slice(0, SHOWN_UNITS / 2)}\n[… ${left} characters omitted …]\n${text.slice(-SHOWN_UNITS / 2)}`;
}
