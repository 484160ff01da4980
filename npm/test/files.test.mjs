// What the file system and the system calls behind Node do seldom: short reads and writes, refusals in the middle, no
// hard links.

import assert from "node:assert/strict";
import { chmodSync, readFileSync, readdirSync, statSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { mock, test } from "node:test";
import { NodeHost } from "../dist/index.js";
import { folder } from "./support/workspace.mjs";

const bytes = (text) => new TextEncoder().encode(text);
const error = (code) => Object.assign(new Error(code), { code, errno: -1 });

/** A function of `fs/promises` is another one for the length of a test. */
function replace(t, name, made) {
  const usual = fs[name];
  const restore = () => {
    fs[name] = usual;
    syncBuiltinESMExports();
  };
  fs[name] = made(usual);
  syncBuiltinESMExports();
  t.after(restore);
}

/** Methods of open files are others for the length of a test. */
async function replaceMethods(t, methods) {
  const file = await fs.open("/dev/null");
  const prototype = Object.getPrototypeOf(file);
  await file.close();
  for (const [name, made] of Object.entries(methods)) {
    const usual = prototype[name];
    prototype[name] = made(usual);
    t.after(() => (prototype[name] = usual));
  }
}

function host(t) {
  const cwd = folder(t);
  const { files, locks } = new NodeHost({ cwd, attended: false });
  t.after(() => locks.releaseAll());
  return { cwd, files, locks };
}

/** What is said on standard error while something is done. */
async function said(work) {
  const words = [];
  const write = mock.method(process.stderr, "write", (text, done) => {
    words.push(text);
    done?.();
    return true;
  });
  try {
    await work();
  } finally {
    write.mock.restore();
  }
  return words.join("");
}

const openFiles = () => readdirSync("/proc/self/fd").length;

test("short reads and writes are gone on with", async (t) => {
  const { cwd, files } = host(t);
  await files.write("a", bytes("0123456789"), "any", false);
  const least = (usual) =>
    function (buffer, offset, length, position) {
      return usual.call(this, buffer, offset, Math.min(length, 3), position);
    };
  await replaceMethods(t, { read: least, write: least });
  await files.patch("a", 1, bytes("12345678"), bytes("abcdefgh"));
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "0abcdefgh9");
  const { bytes: tail } = await files.readTail("a", 7);
  assert.equal(new TextDecoder().decode(tail), "defgh9".padStart(7, "c"));
  const { locks } = host(t);
  await locks.lock("lock", 0, 0);
  assert.equal((await locks.holder("lock")).process.pid, process.pid);
});

test("an error behind the rename is an unknown outcome", async (t) => {
  const { cwd, files } = host(t);
  const sync = (usual) =>
    async function () {
      if ((await this.stat()).isDirectory()) throw error("EIO");
      return usual.call(this);
    };
  await replaceMethods(t, { sync });
  const expected = { kind: "unknown", message: /^`a` was written, but a power cut may undo that: / };
  await assert.rejects(files.write("a", bytes("1"), "absent", true), expected);
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "1");
  const appended = { kind: "unknown", message: /^`b` was written, but / };
  await assert.rejects(files.append("b", bytes("1"), 0, true), appended);
});

test("a file system that cannot sync a folder is gone on with, and named once", async (t) => {
  const { cwd, files } = host(t);
  const sync = (usual) =>
    async function () {
      if ((await this.stat()).isDirectory()) throw error("EINVAL");
      return usual.call(this);
    };
  await replaceMethods(t, { sync });
  const words = await said(async () => {
    await files.write("a", bytes("1"), "any", true);
    await files.write("a", bytes("2"), "any", true);
    await files.append("b", bytes("2"), 0, true);
  });
  const place = `the file system of \`${cwd}\` cannot make names durable`;
  assert.equal(words, `warning: ${place};\n  a power cut may undo what was written there last\n`);
});

test("a folder that may only be written is written", async (t) => {
  const { cwd, files } = host(t);
  replace(t, "open", (usual) => async (path, ...more) => {
    if (path === cwd) throw error("EACCES");
    return usual(path, ...more);
  });
  assert.match(await said(() => files.write("a", bytes("1"), "any", true)), /cannot make names durable/);
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "1");
});

test("what cannot be done leaves no file, named or open", async (t) => {
  const { cwd, files, locks } = host(t);
  await files.write("a", bytes("1"), "any", false);
  const refuse = () => async () => {
    throw error("EIO");
  };
  for (const step of ["chmod", "utimes", "writeFile"]) {
    await t.test(step, async (t) => {
      chmodSync(join(cwd, "a"), 0o640);
      const before = openFiles();
      await replaceMethods(t, { [step]: refuse });
      await assert.rejects(files.write("a", bytes("2"), "any", true), { kind: "other" });
      assert.deepEqual(readdirSync(cwd), ["a"]);
      assert.equal(readFileSync(join(cwd, "a"), "utf8"), "1");
      assert.equal(openFiles(), before);
    });
  }
  await t.test("a lock", async (t) => {
    const before = openFiles();
    await replaceMethods(t, { writeFile: refuse });
    await assert.rejects(locks.lock("lock", 0, 0), { kind: "other" });
    assert.deepEqual(readdirSync(cwd), ["a"]);
    assert.equal(openFiles(), before);
  });
});

test("an append that cannot be taken back has an unknown outcome", async (t) => {
  const { files } = host(t);
  const refuse = (code) => () => async () => {
    throw error(code);
  };
  await replaceMethods(t, { datasync: refuse("ENOSPC"), truncate: refuse("EIO") });
  const expected = { kind: "unknown", message: /^cannot append to `a` as a whole: no space is left/ };
  await assert.rejects(files.append("a", bytes("1"), 0, true), expected);
});

for (const code of ["EPERM", "ENOTSUP"]) {
  test(`locks and new files are published where a file system has no hard links (${code})`, async (t) => {
    const { cwd, files, locks } = host(t);
    replace(t, "link", () => async () => {
      throw error(code);
    });
    await files.write("new", bytes("1"), "absent", true);
    await assert.rejects(files.write("new", bytes("2"), "absent", true), { kind: "exists" });
    assert.equal(readFileSync(join(cwd, "new"), "utf8"), "1");
    await locks.lock("lock", 0, 0, true);
    assert.equal((await locks.holder("lock")).live, true);
    assert.equal(statSync(join(cwd, "lock")).mode & 0o777, 0o600);
    const other = new NodeHost({ cwd, attended: false });
    await assert.rejects(other.locks.lock("lock", 0, 0), { kind: "busy" });
    await locks.unlock("lock");
    assert.deepEqual(readdirSync(cwd), ["new"]);
  });
}

test("a name that a file has got stays, whatever becomes of its first one", async (t) => {
  const { cwd, locks } = host(t);
  replace(t, "unlink", (usual) => async (path) => {
    if (String(path).endsWith(".tmp")) throw error("EIO");
    return usual(path);
  });
  await locks.lock("lock", 0, 0);
  await locks.unlock("lock");
  assert.ok(!readdirSync(cwd).includes("lock"));
});

test("a file of another user is known by its owner, and what is root's is nobody else's", async (t) => {
  const { cwd, files } = host(t);
  await fs.writeFile(join(cwd, "a.txt"), "a");
  assert.equal((await files.stat("a.txt")).foreign, false);
  assert.equal((await files.stat("/etc")).foreign, false);
  // Only root can give a file away; others can be somebody else.
  const user = process.geteuid();
  if (user === 0) await fs.chown(join(cwd, "a.txt"), 12_345, -1);
  else t.mock.method(process, "geteuid", () => user + 1);
  assert.equal((await files.stat("a.txt")).foreign, true);
});
