// `node roots.mjs ARCHIVE ROOT...`: runs the example `links` with the program of a release in other systems, each of them a folder
// that `debootstrap` or somebody else has made a root of. Needs to be root, for `chroot`. Not a stage: roots take minutes to make.
//
//     debootstrap --variant=minbase --include=git bullseye /tmp/bullseye
//     node tests/release/roots.mjs assets/onloop-0.1.0-linux-x64.tar.gz /tmp/bullseye
//
// The root has `sh`, `git`, `awk`, `find` and `sort`; busybox has all but git. With `--node PROGRAM...` in front of the roots the npm package
// is tried as well: PROGRAM is Node as that root sees it, and ROOT/package the unpacked package.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

const examples = fileURLToPath(new URL("../../docs/examples", import.meta.url));
const [archive, ...rest] = argv.slice(2);
const node = rest[0] === "--node" ? rest.splice(0, 2)[1] : undefined;
if (rest.length === 0) {
  console.error("usage: node roots.mjs ARCHIVE [--node PROGRAM] ROOT...");
  exit(2);
}

/** Runs a line in a root, with nothing of our environment. */
function within(root, line) {
  const env = { HOME: "/root", PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", ONLOOP_STATE_HOME: "/tmp/onloop-state" };
  const { status, stdout, stderr } = spawnSync("chroot", [root, "/bin/sh", "-c", line], { env, encoding: "utf8" });
  return { status, said: `${stdout}${stderr}`.trimEnd() };
}

function tried(root, name, command) {
  const place = mkdtempSync(join(root, "tmp/onloop-"));
  try {
    cpSync(join(examples, "links"), join(place, "links"), { recursive: true });
    const folder = `/tmp/${place.split("/").at(-1)}/links`;
    const setUp = [
      `cd ${folder}`,
      "git init --quiet",
      "git symbolic-ref HEAD refs/heads/main",
      "git config user.name demo",
      "git config user.email demo@example.org",
      "git add --all",
      "git commit --quiet --message Start",
    ].join(" && ");
    const { status, said } = within(root, `${setUp} && ${command} --version && ${command} run`);
    const isDone = status === 0 && /^Run completed /m.test(said);
    console.log(`${isDone ? "ok" : "not ok"} - ${name} in ${root}${isDone ? "" : `: exit ${status}\n${said}`}`);
    return isDone;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

let failed = 0;
for (const root of rest) {
  const place = join(root, "opt/onloop-release");
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  execFileSync("tar", ["-xzf", archive, "--strip-components=1", "-C", place]);
  if (!tried(root, "the native program", "/opt/onloop-release/onloop")) failed += 1;
  const packaged = `ONLOOP_BINARY= ${node} /package/bin/onloop.mjs`;
  if (node !== undefined && existsSync(join(root, "package")) && !tried(root, "the npm package", packaged)) failed += 1;
}
exit(failed === 0 ? 0 : 1);
