// The packed package in a page and its worker, bundled by Vite and opened in Chromium.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { load } from "../../dist/index.js";
import * as workspace from "../support/workspace.mjs";
import { npmFolder } from "../support/workspace.mjs";

const BROWSER = process.env.ONLOOP_TEST_BROWSER ?? "chromium";
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
/** Most time that the browser gets to start, compile and answer. */
const PATIENCE_MS = 120_000;

const CHECK = `
export function check(core) {
  const text = "---\\nintent: 日本 \\u{1f600}\\n---\\n- [ ] **Step 1: Greet \\u{1f600}**\\naction: Greet.\\nverify: true\\n";
  const found = core.lint("hotl-workflow-a.md", text);
  const { start, end } = found.find(({ code }) => code === "missing-loop");
  const call = { tool: "Bash", input: { command: "rm -rf /" }, cwd: "/w" };
  return [found.length, text.slice(start, end), core.decide(call).decision].join(" ");
}
`;

const PROJECT = {
  "index.html": '<!doctype html><meta charset="utf-8"><script type="module" src="/main.js"></script>',
  "check.js": CHECK,
  "worker.js": `import { load } from "onloop";
    import { check } from "./check.js";
    postMessage(check(load()));`,
  "main.js": `import { load } from "onloop/inline";
    import { load as pure } from "onloop/pure";
    import { Core } from "onloop/slim";
    import wasm from "onloop/onloop.wasm?url";
    import { check } from "./check.js";
    const inWorker = () => new Promise((resolve, reject) => {
      const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
    const streamed = async () => check(new Core(await WebAssembly.compileStreaming(fetch(wasm))));
    const ways = { inline: async () => check(load()), pure: async () => check(pure()), worker: inWorker, streamed };
    const results = {};
    for (const [name, way] of Object.entries(ways)) {
      results[name] = await way().catch((error) => String(error.stack ?? error));
    }
    await fetch("/results", { method: "POST", body: JSON.stringify(results) });`,
};

test("a page and its worker lint and decide", async (t) => {
  const top = workspace.folder(t);
  const project = join(top, "a page ü");
  mkdirSync(project);
  workspace.write(project, PROJECT);
  // The bundler and its lock file.
  cpSync(join(npmFolder, "test/browser/bundler"), project, { recursive: true });
  const shell = { cwd: project, stdio: ["ignore", "inherit", "inherit"] };
  execFileSync(process.execPath, [join(npmFolder, "release.mjs"), top], shell);
  const tarball = readdirSync(top).find((name) => name.endsWith(".tgz"));
  const quiet = ["--no-audit", "--no-fund"];
  execFileSync("npm", ["ci", ...quiet], shell);
  execFileSync("npm", ["install", ...quiet, "--offline", join(top, tarball)], shell);
  const config = ["--base", "./", "--target", "es2022"];
  execFileSync(process.execPath, ["node_modules/vite/bin/vite.js", "build", ...config], shell);
  const { check } = await import(pathToFileURL(join(project, "check.js")).href);
  const expected = check(load());
  assert.match(expected, / Greet \u{1f600} deny$/u);
  const results = await opened(t, join(project, "dist"), join(top, "profile"));
  assert.deepEqual(results, { inline: expected, pure: expected, worker: expected, streamed: expected });
});

/** What the page in `site` sends back. */
async function opened(t, site, profile) {
  let answer;
  const answered = new Promise((resolve, reject) => {
    answer = { resolve, reject };
  });
  const server = createServer(async (request, response) => {
    if (request.method === "POST") {
      const parts = [];
      for await (const part of request) parts.push(part);
      response.end();
      answer.resolve(JSON.parse(Buffer.concat(parts).toString()));
      return;
    }
    const path = request.url === "/" ? "/index.html" : request.url;
    try {
      const bytes = readFileSync(join(site, path));
      response.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream");
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  // As root, which builds in containers often are, it refuses to start with a sandbox of its own; some
  // systems refuse it one. It lives for one page, which is ours and comes from this machine.
  const options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", `--user-data-dir=${profile}`];
  // The quick package exceeds what a page may load at once; `./test npm-package` limits the published one.
  options.push("--enable-features=WebAssemblyUnlimitedSyncCompilation");
  const browser = spawn(BROWSER, [...options, `http://127.0.0.1:${server.address().port}/`], { stdio: ["ignore", "ignore", "pipe"], detached: true });
  const said = [];
  browser.stderr.on("data", (bytes) => said.push(bytes));
  browser.on("error", answer.reject);
  const patience = setTimeout(() => answer.reject(new Error(`no answer from \`${BROWSER}\`: ${said.join("")}`)), PATIENCE_MS);
  try {
    return await answered;
  } finally {
    clearTimeout(patience);
    if (browser.pid !== undefined) {
      const ended = new Promise((resolve) => browser.on("exit", resolve));
      process.kill(-browser.pid, "SIGKILL");
      await ended;
    }
  }
}
