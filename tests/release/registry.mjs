// A package registry on loopback, in a separate process and as strict as the real one: a version is published once, and only
// with the token. `node registry.mjs FOLDER` prints its URL and stores packages in FOLDER.
//
// A file FOLDER/refuse with the name of a package makes the next publication of that package fail; with a `!`
// before the name it stores the package and drops the answer.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { argv } from "node:process";

const folder = argv[2];
const TOKEN = "the-token-of-the-rehearsal";
mkdirSync(folder, { recursive: true });
const packages = new Map();
let address;

/** The failure of the next publication of this package. */
function trouble(name) {
  const file = join(folder, "refuse");
  if (!existsSync(file)) return undefined;
  const wanted = readFileSync(file, "utf8").trim();
  if (wanted.replace("!", "") !== name) return undefined;
  rmSync(file);
  return wanted.startsWith("!") ? "lost" : "refused";
}

function publish(name, body, request) {
  if (request.headers.authorization !== `Bearer ${TOKEN}`) return [401, { error: "who are you?" }];
  const met = trouble(name);
  if (met === "refused") return [500, { error: "out of order" }];
  const known = packages.get(name) ?? { name, "dist-tags": {}, versions: {} };
  const [[version, manifest]] = Object.entries(body.versions);
  if (known.versions[version] !== undefined) return [403, { error: `${name}@${version} is published already` }];
  const [[file, { data }]] = Object.entries(body._attachments);
  const bytes = Buffer.from(data, "base64");
  if (manifest.dist.integrity !== `sha512-${createHash("sha512").update(bytes).digest("base64")}`) return [400, { error: "damaged" }];
  const stored = file.replaceAll("/", "+");
  writeFileSync(join(folder, stored), bytes);
  manifest.dist.tarball = `${address}/-/${encodeURIComponent(stored)}`;
  known.versions[version] = manifest;
  known["dist-tags"].latest = version;
  packages.set(name, known);
  writeFileSync(join(folder, "order"), `${name}@${version}\n`, { flag: "a" });
  return met === "lost" ? undefined : [201, { ok: true }];
}

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const path = decodeURIComponent(new URL(request.url, address).pathname.slice(1));
    const answer = (status, value) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(Buffer.isBuffer(value) ? value : JSON.stringify(value));
    };
    if (request.method === "PUT") {
      const answered = publish(path, JSON.parse(Buffer.concat(parts).toString("utf8")), request);
      if (answered === undefined) response.socket.destroy();
      else answer(...answered);
    } else if (path.startsWith("-/") && existsSync(join(folder, path.slice(2)))) {
      answer(200, readFileSync(join(folder, path.slice(2))));
    } else if (packages.has(path)) {
      answer(200, packages.get(path));
    } else {
      answer(404, { error: "not found" });
    }
  });
});
server.listen(0, "127.0.0.1", () => {
  address = `http://127.0.0.1:${server.address().port}`;
  console.log(JSON.stringify({ address, token: TOKEN }));
});
// It ends with its parent process.
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
