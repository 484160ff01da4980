// `node publish.mjs FOLDER`: publishes the tarballs in FOLDER, the main package last: what it names is there when somebody
// installs it. What the registry has already, byte for byte, is left alone, so that a release that stopped in the
// middle is finished by starting it again. A version that the registry has with other bytes ends it.

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { argv, exit } from "node:process";

/** The name and version that a tarball carries inside. */
function identityOf(tarball) {
  const manifest = execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" });
  const { name, version } = JSON.parse(manifest);
  return { name, version };
}

const integrityOf = (tarball) => `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;

/** The digest that the registry names for this version, or nothing where it has none. */
function published({ name, version }) {
  const { status, stdout, stderr } = spawnSync("npm", ["view", `${name}@${version}`, "dist.integrity", "--json"], { encoding: "utf8" });
  if (status === 0) return stdout.trim() === "" ? undefined : JSON.parse(stdout);
  // A package that nobody has published, or not in this version.
  if (/\bE404\b/.test(stdout + stderr)) return undefined;
  throw new Error(`cannot ask the registry about ${name}@${version}:\n${stderr.trim()}`);
}

function publish(tarball) {
  const identity = identityOf(tarball);
  const [wanted, label] = [integrityOf(tarball), `${identity.name}@${identity.version}`];
  const isThere = () => {
    const found = published(identity);
    if (found !== undefined && found !== wanted) {
      throw new Error(
        `${label} is published with other content (${found}; expected ${wanted}); a version is published once: raise it, tag again`,
      );
    }
    return found !== undefined;
  };
  if (isThere()) {
    console.log(`${label}: published already`);
    return;
  }
  const { status } = spawnSync("npm", ["publish", tarball], { stdio: ["ignore", "inherit", "inherit"] });
  // A reply that got lost is no failure.
  if (status !== 0 && !isThere()) throw new Error(`${label} was not published; start this job again`);
  console.log(`${label}: published`);
}

const [folder] = argv.slice(2);
if (folder === undefined) {
  console.error("usage: node publish.mjs FOLDER");
  exit(2);
}
try {
  // npm takes `folder/file` for a repository on GitHub.
  const place = resolve(folder);
  const tarballs = readdirSync(place).filter((name) => name.endsWith(".tgz")).map((name) => join(place, name));
  const isMain = (tarball) => identityOf(tarball).name === "onloop";
  const [main, others] = [tarballs.filter(isMain), tarballs.filter((tarball) => !isMain(tarball))];
  if (main.length !== 1) throw new Error(`${folder}: expected one tarball of the package onloop; found ${main.length}`);
  for (const tarball of [...others.sort(), ...main]) publish(tarball);
} catch (error) {
  console.error(`error: ${error.message}`);
  exit(1);
}
