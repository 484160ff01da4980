// The world in which workflows are rehearsed: folders for their jobs, a registry, a place for git, and the variables that
// lead their scripts to them instead of to the real ones.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyCheckout } from "./actions.mjs";

export const repository = fileURLToPath(new URL("../..", import.meta.url));
export const platform = `${process.platform}-${process.arch}`;
const here = fileURLToPath(new URL(".", import.meta.url));
const REMOTE = "https://x-access-token:a-token@github.com/onloop/onloop.git";

/** Paths from `cargo xtask release`. */
function given(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; \`cargo xtask release\` sets it`);
  return value;
}

/** The path of a program that a fake replaces. */
function real(name) {
  return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
}

/** A registry in a separate process; `end` ends it. */
export async function startRegistry(folder) {
  const child = spawn(process.execPath, [join(here, "registry.mjs"), folder], { stdio: ["pipe", "pipe", "inherit"] });
  const said = await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`the registry ended with ${code}`)));
  });
  return { ...JSON.parse(said), folder, end: () => child.stdin.end() };
}

/** A checkout that is prepared for the tag of a version, as in docs/releasing.md. */
function prepared(folder, version) {
  copyCheckout(repository, folder);
  execFileSync(process.execPath, ["npm/release/version.mjs", "--set", version], { cwd: folder });
  for (const words of [["init", "--quiet"], ["add", "--all"]]) execFileSync("git", words, { cwd: folder });
  return folder;
}

/** A world for the tag of `version`, in a new temporary folder. */
export async function rehearse(version) {
  const top = mkdtempSync(join(tmpdir(), "onloop-rehearsal-"));
  const folder = (name) => {
    const path = join(top, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  const remote = join(top, "remote.git");
  execFileSync("git", ["init", "--quiet", "--bare", remote]);
  const world = {
    top,
    remote,
    repository: prepared(folder("repository"), version),
    tag: `v${version}`,
    platform,
    contexts: { github: { token: "a-token", repository: "onloop/onloop", ref: `refs/tags/v${version}` } },
    secrets: {},
    // Whether the registry trusts the workflow without a token.
    isTrusted: false,
    work: folder("jobs"),
    artifacts: join(top, "artifacts"),
    releases: folder("releases"),
    attested: new Map(),
    said: [],
    log: (line) => world.said.push(line),
    registry: await startRegistry(join(top, "registry")),
    environment: (permissions, environment) => variables(world, folder, permissions, environment),
  };
  world.secrets.npm = { NPM_TOKEN: world.registry.token };
  return world;
}

/** The settings of npm, with a token or the name of its variable. */
export function npmSettings(world, name, token = "${NODE_AUTH_TOKEN}") {
  const { address } = world.registry;
  const lines = [`registry=${address}/`, "fetch-retries=0", "update-notifier=false", "audit=false", "fund=false"];
  lines.push(`${address.replace("http:", "")}/:_authToken=${token}`);
  const file = join(world.top, name);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

function variables(world, folder, permissions, environment) {
  const may = Object.entries(permissions).map(([name, what]) => `${name}:${what}`);
  const isBelieved = world.isTrusted && environment === "npm" && may.includes("id-token:write");
  const insteadOf = may.includes("contents:write") ? [[`url.${world.remote}.insteadOf`, REMOTE]] : [];
  const git = Object.fromEntries(insteadOf.flatMap(([key, value], at) => [[`GIT_CONFIG_KEY_${at}`, key], [`GIT_CONFIG_VALUE_${at}`, value]]));
  return {
    ...git,
    GIT_CONFIG_COUNT: String(insteadOf.length),
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    // Nothing here leaves this machine.
    GIT_ALLOW_PROTOCOL: "file",
    PATH: [join(here, "stand-ins"), process.env.PATH].join(delimiter),
    HOME: folder("home"),
    TMPDIR: folder("tmp"),
    CI: "true",
    GITHUB_REF_NAME: world.tag,
    CARGO_HOME: process.env.CARGO_HOME ?? join(process.env.HOME, ".cargo"),
    RUSTUP_HOME: process.env.RUSTUP_HOME ?? join(process.env.HOME, ".rustup"),
    ...(process.env.RUSTUP_TOOLCHAIN && { RUSTUP_TOOLCHAIN: process.env.RUSTUP_TOOLCHAIN }),
    npm_config_userconfig: npmSettings(world, "npmrc", isBelieved ? world.registry.token : undefined),
    NODE_AUTH_TOKEN: "",
    npm_config_cache: folder("npm-cache"),
    REHEARSAL_CARGO: process.env.CARGO ?? real("cargo"),
    REHEARSAL_NPM: real("npm"),
    REHEARSAL_REPOSITORY: repository,
    REHEARSAL_JOBS: world.work,
    REHEARSAL_TARGET: given("ONLOOP_TEST_TARGET"),
    REHEARSAL_PROGRAM: given("ONLOOP_TEST_NATIVE"),
    REHEARSAL_STAGES: given("ONLOOP_TEST_STAGES"),
    REHEARSAL_RELEASES: world.releases,
    REHEARSAL_PERMISSIONS: may.join(" "),
    REHEARSAL_TAG: world.tag,
  };
}
