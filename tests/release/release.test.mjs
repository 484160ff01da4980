// Runs `release.yml` from its first step to its last, and checks the results.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { testWithAll } from "../../npm/test/support/all.mjs";
import { filesBelow } from "./actions.mjs";
import { npmSettings, platform, rehearse, repository, startRegistry } from "./rehearsal.mjs";
import { perform } from "./workflow.mjs";

const WORKFLOW = ".github/workflows/release.yml";
const JOBS = ["version", "test", "systems", "native", "package", "attest", "publish", "github"];
const PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-x64"];
const { version } = JSON.parse(readFileSync(join(repository, "npm/package.json"), "utf8"));
const ORDER = [...PLATFORMS.map((name) => `@onloop/${name}@${version}`), `onloop@${version}`];

const world = await rehearse(version);
const registries = [world.registry];
after(() => {
  for (const registry of registries) registry.end();
  rmSync(world.top, { recursive: true, force: true });
});

const order = () => readFileSync(join(world.registry.folder, "order"), "utf8").trim().split("\n");
const again = (...only) => perform(WORKFLOW, world, { only });
const asset = (name) => readFileSync(join(world.releases, world.tag, name));
const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** Another, empty registry. */
async function emptyRegistry(name) {
  world.registry = await startRegistry(join(world.top, name));
  registries.push(world.registry);
}

before(() => {
  assert.deepEqual(perform(WORKFLOW, world), JOBS);
});

test("every package is published, the main one last", () => {
  assert.deepEqual(order(), ORDER);
});

test("the release has exactly the files of its checksums", () => {
  const archives = PLATFORMS.flatMap((name) => [`onloop-${version}-${name}.cdx.json`, `onloop-${version}-${name}.tar.gz`]);
  const named = [...archives, `onloop-${version}-npm.cdx.json`, `onloop-${version}.vsix`].sort();
  const lines = asset("SHA256SUMS").toString().trimEnd().split("\n");
  assert.deepEqual(lines.map((line) => line.slice(66)).sort(), named);
  for (const line of lines) assert.equal(digest(asset(line.slice(66))), line.slice(0, 64), line);
  assert.deepEqual(readdirSync(join(world.releases, world.tag)).sort(), [".state", "SHA256SUMS", ...named].sort());
  assert.equal(asset(".state").toString(), "published");
});

test("every published file has an attestation", () => {
  const published = join(world.registry.folder);
  const tarballs = readdirSync(published).filter((name) => name.endsWith(".tgz")).map((name) => readFileSync(join(published, name)));
  const assets = readdirSync(join(world.releases, world.tag)).filter((name) => name !== ".state").map(asset);
  assert.equal(tarballs.length, ORDER.length);
  for (const bytes of [...tarballs, ...assets]) assert.ok(world.attested.has(digest(bytes)), digest(bytes));
});

test("an archive has only the program and its licenses, and the program starts", () => {
  const place = join(world.top, "unpacked");
  mkdirSync(place);
  for (const name of PLATFORMS) {
    execFileSync("tar", ["-xzf", join(world.releases, world.tag, `onloop-${version}-${name}.tar.gz`), "-C", place]);
    const program = name.startsWith("win32") ? "onloop.exe" : "onloop";
    const terms = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES.txt"];
    assert.deepEqual(filesBelow(join(place, `onloop-${version}-${name}`)), [...terms, program].sort());
  }
  const said = execFileSync(join(place, `onloop-${version}-${platform}`, "onloop"), ["--version"], { encoding: "utf8" });
  assert.equal(said, `onloop ${version}\n`);
});

test("a bill of materials names the linked packages and their sources", () => {
  const components = (name) => {
    const { bomFormat, specVersion, serialNumber, metadata, components: found } = JSON.parse(asset(`onloop-${version}-${name}.cdx.json`));
    assert.deepEqual([bomFormat, specVersion, metadata.component.version], ["CycloneDX", "1.5", version]);
    assert.match(serialNumber, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    for (const { purl, licenses } of found) assert.ok(purl.startsWith("pkg:cargo/") && licenses?.length === 1, purl);
    return found.map((component) => component.name);
  };
  const [linux, windows, npm] = ["linux-x64", "win32-x64", "npm"].map(components);
  assert.ok(linux.includes("landlock") && !windows.includes("landlock") && windows.includes("hyper"));
  assert.ok(npm.includes("wasm-bindgen") && !npm.includes("hyper"));
});

test("the branch for plugins is one commit with the program in it", () => {
  const git = (...words) => execFileSync("git", ["-C", world.remote, ...words], { encoding: "utf8" }).trim();
  assert.equal(git("rev-list", "--count", "plugin"), "1");
  assert.equal(git("log", "-1", "--format=%s", "plugin"), world.tag);
  const names = git("ls-tree", "-r", "--name-only", "plugin").split("\n");
  for (const name of [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json", "npm/plugin/runtime/dist/onloop.wasm"]) {
    assert.ok(names.includes(name), name);
  }
});

/** A project that installs onloop from the registry of the rehearsal, and a function that runs it there. */
function project(name) {
  const cwd = join(world.top, name);
  cpSync(join(repository, "docs/examples/links"), cwd, { recursive: true });
  writeFileSync(join(cwd, "package.json"), '{ "private": true }\n');
  writeFileSync(join(cwd, ".gitignore"), "/node_modules/\n/.hotl/\n");
  const env = {
    ...world.environment({}, undefined),
    npm_config_userconfig: npmSettings(world, `npmrc-${name}`),
    ONLOOP_STATE_HOME: join(world.top, `${name}-state`),
  };
  const run = (program, ...words) => {
    const end = spawnSync(program, words, { cwd, env, encoding: "utf8" });
    assert.equal(end.status, 0, `${program} ${words.join(" ")}\n${end.stdout}${end.stderr}`);
    return end;
  };
  run("npm", "install", "--save-exact", `onloop@${version}`);
  return { cwd, run, onloop: (...words) => run(join(cwd, "node_modules/.bin/onloop"), ...words) };
}

test("the published package installs, and runs the example with the native program", () => {
  const { run, onloop } = project("links");
  assert.match(onloop("--version").stderr, /^native program /);
  for (const words of [["init", "--quiet", "--initial-branch=main"], ["add", "--all"]]) run("git", ...words);
  run("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "Start");
  for (const [key, value] of [["user.name", "a"], ["user.email", "a@example.org"]]) run("git", "config", key, value);
  assert.match(onloop("run").stderr, /^Run completed /m);
});

testWithAll("rerun jobs change nothing", () => {
  again("publish", "github");
  assert.deepEqual(order(), ORDER);
  assert.equal(asset(".state").toString(), "published");
});

testWithAll("a rerun finishes an interrupted publication", async () => {
  await emptyRegistry("stops");
  const refuse = (name) => writeFileSync(join(world.registry.folder, "refuse"), name);
  refuse("@onloop/linux-x64");
  assert.throws(() => again("publish"), /publish, step 4.*@onloop\/linux-x64@\S+ is not published with these bytes/s);
  assert.deepEqual(order(), ORDER.slice(0, 3));
  // The registry has the package, but the answer was lost.
  refuse("!@onloop/linux-x64");
  again("publish");
  assert.deepEqual(order(), ORDER);
});

testWithAll("later versions need no token, and another build of a version is refused", async () => {
  await emptyRegistry("differs");
  world.secrets.npm.NPM_TOKEN = "";
  assert.throws(() => again("publish"), /is not published/);
  world.isTrusted = true;
  again("publish");
  assert.deepEqual(order(), ORDER);
  const tarballs = join(world.artifacts, "tarballs");
  const name = readdirSync(tarballs).find((file) => file.includes("linux-arm64"));
  const kept = readFileSync(join(tarballs, name));
  const place = join(world.top, "another build");
  mkdirSync(place);
  execFileSync("tar", ["-xzf", join(tarballs, name), "-C", place]);
  writeFileSync(join(place, "package/bin/onloop"), "another");
  execFileSync("tar", ["-czf", join(tarballs, name), "-C", place, "package"]);
  assert.throws(() => again("publish"), /@onloop\/linux-arm64@\S+ is not published with these bytes/);
  writeFileSync(join(tarballs, name), kept);
});

test("a tag that differs from the version stops at once", () => {
  const other = { ...world, tag: "v99.0.0", work: join(world.top, "other jobs") };
  other.environment = (permissions, environment) => ({ ...world.environment(permissions, environment), GITHUB_REF_NAME: other.tag });
  assert.throws(() => perform(WORKFLOW, other), /^Error: version, step 2 .*the tag is `v99\.0\.0`; expected /s);
});
