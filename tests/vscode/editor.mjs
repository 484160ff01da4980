// A VS Code server of our own, and a window of it in a headless browser.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { temporaryFolder } from "../../npm/test/support/temporary.mjs";
import { VERSION } from "./version.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const vsix = required("ONLOOP_TEST_VSIX");
const entry = join(required("ONLOOP_TEST_VSCODE"), `code-server-${VERSION}`, "out", "node", "entry.js");
const browserProgram = required("ONLOOP_TEST_BROWSER");
/** Where a suite puts the result. */
const RESULT = "result.json";
/** A window takes 20 seconds alone, and many times that on a busy machine. */
const PATIENCE_MS = 600_000;

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`\`${name}\` is not set; run \`cargo xtask vscode\``);
  return value;
}

/** A server with our package installed, for one test file. */
export async function server(settings = {}) {
  const home = temporaryFolder("onloop-vscode-");
  const [data, extensions] = [join(home, "data"), join(home, "extensions")];
  mkdirSync(join(data, "User"), { recursive: true });
  // In a browser documents would save themselves.
  const all = { "files.autoSave": "off", ...settings };
  writeFileSync(join(data, "User", "settings.json"), JSON.stringify(all));
  const env = environment(home);
  const places = ["--user-data-dir", data, "--extensions-dir", extensions];
  execFileSync(process.execPath, [entry, ...places, "--install-extension", vsix], { env, stdio: "pipe" });
  const options = ["--auth", "none", "--bind-addr", "127.0.0.1:0", "--disable-telemetry", "--disable-update-check"];
  const child = spawn(
    process.execPath,
    [entry, ...places, ...options, "--disable-getting-started-override"],
    // A group of its own: some of its processes outlive it.
    { env, cwd: home, detached: true, stdio: ["ignore", "pipe", "pipe"] },
  );
  const said = [];
  child.stderr.on("data", (text) => said.push(text));
  const address = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      said.push(`${line}\n`);
      const found = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(line);
      if (found) resolve(found[1]);
    });
    child.on("exit", () => reject(new Error(`the server ended:\n${said.join("")}`)));
  });
  const browser = await chromium.launch({
    executablePath: browserProgram,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"],
  });
  const close = async () => {
    await browser.close();
    process.kill(-child.pid, "SIGKILL");
    await once(child, "exit");
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { address, home, data, browser, close, output: () => said.join("") };
}

/** Nothing of the person who runs the tests: no settings, no agents, no git configuration. */
function environment(home) {
  return {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_DATA_HOME: join(home, ".local"),
    GIT_CONFIG_GLOBAL: join(home, ".gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
    LANG: "C.UTF-8",
    CI: "true",
  };
}

/** A git repository, called `name`, with what is in `workspaces/<files>`. */
export function workspace(home, files, name) {
  const folder = join(home, "work", name);
  cpSync(join(here, "workspaces", files), folder, { recursive: true });
  const git = (...words) => execFileSync("git", words, { cwd: folder, env: environment(home), stdio: "pipe" });
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "Test");
  git("config", "user.email", "test@example.invalid");
  git("add", "--all");
  git("commit", "--quiet", "--message=Begin");
  return folder;
}

/**
 * Opens `folder` in a window whose extension host of that kind (`node`, `web`) loads a suite, and
 * returns what it says: `{ passed: […], failed: [[name, why], …] }`. `meanwhile` gets the page.
 */
export async function suite({ address, browser, home }, { kind, name, folder, meanwhile }) {
  const authority = new URL(address).host;
  const runner = join(home, `${name}-${kind}`);
  await makeRunner(runner, kind, name);
  // Not as tests of an extension: VS Code shows no dialog then.
  const payload = [["extensionDevelopmentPath", `vscode-remote://${authority}${runner}`]];
  if (extra(name).enabledApiProposals) payload.push(["enableProposedApi", ""]);
  const query = new URLSearchParams({ folder, payload: JSON.stringify(payload) });
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  // What a page waits for begins with the window.
  page.setDefaultTimeout(PATIENCE_MS);
  const console_ = [];
  page.on("console", (message) => console_.push(message.text()));
  rmSync(join(folder, RESULT), { force: true });
  const result = arrives(join(folder, RESULT));
  try {
    await page.goto(`${address}/?${query}`);
    const helped = meanwhile?.(page) ?? Promise.resolve();
    const unhelped = helped.then(() => new Promise(() => undefined));
    const told = JSON.parse(await Promise.race([result, unhelped]));
    // Who failed needs no more help.
    if (told.failed.length === 0) await helped;
    return told;
  } catch (error) {
    const picture = join(tmpdir(), `onloop-vscode-${name}.png`);
    await page.screenshot({ path: picture }).catch(() => undefined);
    const told = console_.slice(-40).join("\n");
    throw new Error(`${error.message}\nscreenshot: ${picture}\nconsole:\n${told}`, { cause: error });
  } finally {
    await context.close();
  }
}

/**
 * An extension that runs a suite when it is activated. In one file: web workers can require
 * nothing but `vscode`.
 */
async function makeRunner(folder, kind, name) {
  await build({
    entryPoints: [join(here, "suites", `${name}.js`)],
    outfile: join(folder, "suite.js"),
    bundle: true,
    format: "cjs",
    platform: "neutral",
    external: ["vscode", "node:*"],
    logLevel: "warning",
  });
  const manifest = {
    name: `${name}-${kind}`,
    publisher: "onloop-tests",
    version: "0.0.1",
    engines: { vscode: "^1.100.0" },
    activationEvents: ["onStartupFinished"],
    capabilities: { untrustedWorkspaces: { supported: true } },
    ...extra(name),
    ...(kind === "web" ? { browser: "./suite.js" } : { main: "./suite.js", extensionKind: ["workspace"] }),
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
}

/** What the manifest of a suite says besides, in `suites/<name>.json`. */
function extra(name) {
  const path = join(here, "suites", `${name}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
}

/** The content of a file as soon as it is there: suites write it with one rename. */
function arrives(path) {
  return new Promise((resolve, reject) => {
    const watcher = watch(dirname(path), () => {
      if (!existsSync(path)) return;
      const text = readFileSync(path, "utf8");
      if (text === "") return;
      stop();
      resolve(text);
    });
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`no result after ${PATIENCE_MS / 1000} s`));
    }, PATIENCE_MS);
    const stop = () => {
      watcher.close();
      clearTimeout(timer);
    };
  });
}
