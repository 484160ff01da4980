// What is a program for which platform, and what a package says about the C library that it needs.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { describe, PLATFORMS } from "../../npm/release/platforms.mjs";
import { linkedWith, standIn } from "./programs.mjs";

const top = mkdtempSync(join(tmpdir(), "onloop-platforms-"));
after(() => rmSync(top, { recursive: true, force: true }));
const npm = new URL("../../npm", import.meta.url).pathname;

function file(name, bytes) {
  writeFileSync(join(top, name), bytes);
  return join(top, name);
}

test("the head of a program says what it is for", () => {
  for (const platform of PLATFORMS) assert.deepEqual(describe(standIn(platform)), { platform });
  const loader = "/lib64/ld-linux-x86-64.so.2";
  assert.deepEqual(describe(linkedWith(loader)), { platform: "linux-x64", loader });
  const refused = [
    ["", "not a 64-bit program for Linux, macOS or Windows"],
    ["#!/bin/sh\n".repeat(20), "not a 64-bit program for Linux, macOS or Windows"],
    [standIn("linux-x64").subarray(0, 100), "its program headers are cut off"],
    [Buffer.concat([Buffer.from("\x7fELF\x01\x01", "latin1"), Buffer.alloc(100)]), "not a 64-bit little-endian ELF file"],
  ];
  for (const [bytes, message] of refused) assert.throws(() => describe(Buffer.from(bytes)), { message });
});

test("a program for another platform, or one that needs libraries, is not published", () => {
  const judged = (platform, path) => {
    const end = spawnSync(process.execPath, [join(npm, "release/platforms.mjs"), platform, path], { encoding: "utf8" });
    return [end.status, (end.stdout + end.stderr).replaceAll(`${top}/`, "").trim()];
  };
  const [arm, shared] = [file("arm", standIn("linux-arm64")), file("shared", linkedWith("/lib64/ld-linux-x86-64.so.2"))];
  assert.deepEqual(judged("linux-arm64", arm), [0, "arm: a program for linux-arm64"]);
  assert.deepEqual(judged("linux-x64", arm), [1, "error: arm: expected a program for linux-x64; found one for linux-arm64"]);
  const why = "error: shared: it needs the shared libraries that `/lib64/ld-linux-x86-64.so.2` loads; link it with ONLOOP_LINK=static";
  assert.deepEqual(judged("linux-x64", shared), [1, why]);
});

test("a package names the C library that its program needs, so that npm leaves it out elsewhere", () => {
  const programs = {
    "linux-arm64": file("static", standIn("linux-arm64")),
    "linux-x64": file("glibc", linkedWith("/lib64/ld-linux-x86-64.so.2")),
  };
  const words = Object.entries(programs).map(([platform, path]) => `${platform}=${path}`);
  execFileSync(process.execPath, [join(npm, "release.mjs"), join(top, "tarballs"), ...words]);
  const libc = (platform) => {
    const manifest = execFileSync("sh", ["-c", `tar -xzOf ${join(top, "tarballs")}/onloop-${platform}-*.tgz package/package.json`]);
    return JSON.parse(manifest).libc;
  };
  assert.equal(libc("linux-arm64"), undefined);
  assert.deepEqual(libc("linux-x64"), ["glibc"]);
});
