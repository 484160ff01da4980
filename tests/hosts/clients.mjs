// The clients, each with a fake model server, and new home folders for them.
//
// A client has a name as `onloop install` knows it, the variables that its machine needs, and
// `session(place, script, options)`, which lets its agent take the turns of a script and says
// the result: `{ code, stdout, stderr, heard }`. `served(place, script, act)` does whatever
// `act` does in a place where the client finds its model.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { lastingFolder } from "../../npm/test/support/temporary.mjs";
import { completions, messages, responses, serve } from "./model.mjs";

/** Top of the checkout. */
export const repository = join(dirname(fileURLToPath(import.meta.url)), "../..");
/** The native program under test, and the folder into which the clients were installed. */
const NATIVE = named("ONLOOP_TEST_NATIVE");
const CLIENTS = join(named("ONLOOP_TEST_CLIENTS"), "node_modules");

export function named(variable) {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is not set; \`cargo xtask hosts\` sets it`);
  return value;
}

/** The program of Claude Code for this platform, without the script that would install it. */
function claudeProgram() {
  const scope = join(CLIENTS, "@anthropic-ai");
  const packages = readdirSync(scope).filter((name) => name.startsWith("claude-code-"));
  const found = packages.map((name) => join(scope, name, "claude")).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`no Claude Code in ${scope}`);
  return found;
}

const made = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** Requests of clients to other servers are refused at once. */
const NOWHERE = {
  HTTP_PROXY: "http://127.0.0.1:1",
  HTTPS_PROXY: "http://127.0.0.1:1",
  NO_PROXY: "127.0.0.1,localhost",
  npm_config_registry: "http://127.0.0.1:1/",
  npm_config_fetch_retries: "0",
};

/**
 * A new project with a file to destroy, a home, and a PATH on which `onloop`, the client and Node
 * come before what the system has, all of them new.
 */
export function machine(client) {
  // Codex creates no programs for its sandbox below a temporary folder.
  const folder = realpathSync(lastingFolder("onloop-hosts-"));
  made.push(folder);
  for (const name of ["home", "home/.codex", "project", "bin"]) mkdirSync(join(folder, name));
  symlinkSync(NATIVE, join(folder, "bin/onloop"));
  symlinkSync(client.program, join(folder, "bin", client.name));
  symlinkSync(process.execPath, join(folder, "bin/node"));
  mkdirSync(join(folder, "project/victim"));
  writeFileSync(join(folder, "project/victim/file"), "still here\n");
  const home = join(folder, "home");
  const PATH = [join(folder, "bin"), "/usr/bin", "/bin"].join(delimiter);
  // Codex starts a login shell, which sets PATH.
  writeFileSync(join(home, ".profile"), `PATH='${PATH}'\n`);
  const env = {
    PATH,
    HOME: home,
    HANDSOFF_AUTO_PERMISSION: "0",
    ONLOOP_CONTINUE: "never",
    GIT_CONFIG_GLOBAL: "/dev/null",
    ...NOWHERE,
    ...client.variables(home),
  };
  return { project: join(folder, "project"), home, bin: join(folder, "bin/onloop"), env };
}

/** The same machine without one of the system's programs: links to all others take its place on PATH. */
export function without(place, hidden) {
  const programs = join(place.home, "../programs");
  mkdirSync(programs);
  for (const folder of ["/usr/bin", "/bin"]) {
    for (const name of readdirSync(folder)) {
      if (name !== hidden && !existsSync(join(programs, name))) symlinkSync(join(folder, name), join(programs, name));
    }
  }
  const PATH = [dirname(place.bin), programs].join(delimiter);
  writeFileSync(join(place.home, ".profile"), `PATH='${PATH}'\n`);
  return { ...place, env: { ...place.env, PATH } };
}

/** Runs a program to its end. */
export function run(program, words, { project, env }) {
  return new Promise((resolve) => {
    const options = { cwd: project, env, timeout: 240_000 };
    const child = execFile(program, words, options, (error, stdout, stderr) => {
      resolve({ code: error?.code ?? 0, stdout, stderr });
    });
    child.stdin.end();
  });
}

/** Runs `onloop`, which has to succeed. */
export async function onloop(place, ...words) {
  const ended = await run("onloop", words, place);
  assert.equal(ended.code, 0, `onloop ${words.join(" ")}: ${JSON.stringify(ended)}`);
  return ended.stdout;
}

async function withModel(dialect, script, act) {
  const model = await serve(dialect, script);
  const ended = await act(model.url).finally(() => model.close());
  return { ...ended, heard: model.heard };
}

export const claude = {
  name: "claude",
  program: claudeProgram(),
  variables: (home) => ({
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    ANTHROPIC_API_KEY: "sk-ant-fake",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    IS_SANDBOX: "1",
  }),
  /** Its verbs for plugins. They ask its servers, too, and try again for a long time where none is. */
  plugin: (place, ...words) =>
    withModel(messages, [], (url) => {
      const env = { ...place.env, ANTHROPIC_BASE_URL: url };
      return run("claude", ["plugin", ...words], { ...place, env });
    }),
  /** `act` starts another program than the client itself. */
  session(place, script, { prompt = "go", words = [], act = run } = {}) {
    const options = ["-p", prompt, "--permission-mode", "bypassPermissions", "--output-format", "json"];
    return this.served(place, script, (place) => act("claude", [...options, ...words], place));
  },
  served(place, script, act) {
    return withModel(messages, script, (url) => {
      return act({ ...place, env: { ...place.env, ANTHROPIC_BASE_URL: url } });
    });
  },
};

/** The agent that an adapter from npm makes of a client, for `--agent`. */
export function adapter(client, name) {
  const program = join(CLIENTS, "@agentclientprotocol", name, "dist/index.js");
  const chosen = { claude: "CLAUDE_CODE_EXECUTABLE", codex: "CODEX_PATH" }[client.name];
  return `acp:${chosen}='${client.program}' node '${program}'`;
}

/** Ends what we write into the configuration of Codex. */
const MARK = "# of others";

export const codex = {
  name: "codex",
  program: join(CLIENTS, ".bin/codex"),
  variables: (home) => ({ CODEX_HOME: join(home, ".codex"), FAKE_KEY: "x" }),
  session(place, script, { prompt = "go", words = [] } = {}) {
    const options = ["exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access"];
    return this.served(place, script, (place) => run("codex", [...options, ...words, prompt], place));
  },
  served(place, script, act) {
    return withModel(responses, script, (url) => {
      const config = join(place.home, ".codex/config.toml");
      // Other entries, such as plugins, stay.
      const found = existsSync(config) ? readFileSync(config, "utf8") : "";
      const others = found.split(MARK).at(-1).replace(/^\n/, "");
      const ours = `model = "fake"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"
base_url = "${url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"
[projects.${JSON.stringify(place.project)}]\ntrust_level = "trusted"\n`;
      writeFileSync(config, `${ours}${MARK}\n${others}`);
      return act(place);
    });
  },
  /** Hooks count only where a person has trusted them; this stands for the person. */
  trusted: "--dangerously-bypass-hook-trust",
};

export const opencode = {
  name: "opencode",
  program: join(CLIENTS, `opencode-${process.platform}-${process.arch}`, "bin/opencode"),
  variables: (home) => ({
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local/share"),
    XDG_STATE_HOME: join(home, ".local/state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  }),
  session(place, script, { prompt = "go", words = [] } = {}) {
    return this.served(place, script, (place) => run("opencode", ["run", ...words, prompt], place));
  },
  served(place, script, act) {
    return withModel(completions, script, (url) => {
      const options = { baseURL: `${url}/v1`, apiKey: "x" };
      const models = { fake: { name: "fake", tool_call: true } };
      const provider = { fake: { npm: "@ai-sdk/openai-compatible", name: "fake", options, models } };
      const config = { provider, model: "fake/fake", permission: { bash: "allow" } };
      const file = join(place.home, "stand-in.json");
      writeFileSync(file, JSON.stringify(config));
      return act({ ...place, env: { ...place.env, OPENCODE_CONFIG: file } });
    });
  },
};
