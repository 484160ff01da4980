// Makes `dist/`: one bundle for hosts with Node, one for web workers, and the module that both use.

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL(".", import.meta.url));
rmSync(join(root, "dist"), { recursive: true, force: true });

const bundle = (name, platform, options = {}) =>
  build({
    absWorkingDir: root,
    entryPoints: [`src/${name}.ts`],
    outfile: `dist/${name}.js`,
    bundle: true,
    minify: true,
    format: "cjs",
    platform,
    external: ["vscode"],
    target: "es2022",
    logLevel: "warning",
    ...options,
  });

await Promise.all([
  // The command line, for terminals; see `program.ts`.
  bundle("program", "node", { entryPoints: ["program.mjs"], logOverride: { "empty-import-meta": "silent" } }),
  // Nothing here asks the package for its own place: the module comes from the extension's folder.
  bundle("node", "node", { logOverride: { "empty-import-meta": "silent" } }),
  bundle("web", "browser"),
]);
copyFileSync(join(root, "..", "dist", "onloop.wasm"), join(root, "dist", "onloop.wasm"));
copyPage();
writeChangelog();
writeSchemas();
writeAgents();
// These are packed from the extension's own folder only.
for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) {
  copyFileSync(join(root, "..", "..", name), join(root, name));
}
copyFileSync(join(root, "..", "THIRD-PARTY-NOTICES.txt"), join(root, "THIRD-PARTY-NOTICES.txt"));

/** The page of `onloop web`, as the core embeds it, with the colors of the editor. */
function copyPage() {
  const [from, to] = [join(root, "..", "..", "core", "documents", "src", "page", "web"), join(root, "dist", "page")];
  mkdirSync(to);
  for (const name of ["app.js", "app.css"]) copyFileSync(join(from, name), join(to, name));
  copyFileSync(join(root, "src", "page.css"), join(to, "page.css"));
}

/** The project's own, whose links lead into the repository from wherever it is read. */
function writeChangelog() {
  const text = readFileSync(join(root, "..", "..", "CHANGELOG.md"), "utf8");
  const place = "https://github.com/onloop/onloop/blob/main/";
  writeFileSync(join(root, "CHANGELOG.md"), text.replace(/\]\((?!https?:|#)/g, `](${place}`));
}

/** Of the configuration, as the core has it; what comes with a repository has rules alone. */
function writeSchemas() {
  const words = [join(root, "..", "bin", "onloop.mjs"), "schema", "config"];
  const own = JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8" }));
  const write = (name, schema) => writeFileSync(join(root, "dist", `${name}.schema.json`), JSON.stringify(schema));
  write("agentize-local", own);
  write("agentize", { ...own, title: ".agentize.yaml", properties: { permissions: own.properties.permissions } });
}

/** The agents and prompts that `onloop install vscode` writes into a project. */
function writeAgents() {
  const project = mkdtempSync(join(tmpdir(), "onloop-vscode-agents-"));
  try {
    const words = [join(root, "..", "bin", "onloop.mjs"), "install", "vscode", "--scope", "project"];
    const env = { ...process.env, HOME: project, ONLOOP_STATE_HOME: join(project, "state") };
    execFileSync(process.execPath, words, { cwd: project, env, stdio: "pipe" });
    for (const kind of ["agents", "prompts"]) {
      cpSync(join(project, ".github", kind), join(root, "dist", kind), { recursive: true });
    }
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}
