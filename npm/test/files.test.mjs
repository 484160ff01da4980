// Rare results of system calls: short reads and writes, errors between two calls, no
// hard links.

import assert from "node:assert/strict";
import { chmodSync, readFileSync, readdirSync, statSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { mock, test } from "node:test";
import { NodeHost } from "../dist/index.js";
import { effects } from "./support/effects.mjs";
import { folder } from "./support/workspace.mjs";

const bytes = (text) => new TextEncoder().encode(text);
const error = (code) => Object.assign(new Error(code), { code, errno: -1 });

/** Replaces a function of `fs/promises` during a test. */
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

/** Replaces methods of open files during a test. */
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
  const node = new NodeHost({ cwd, attended: false });
  t.after(() => node.end());
  const { read_tail, write, append, patch, stat, lock, unlock, holder } = effects(node);
  return { cwd, read_tail, write, append, patch, stat, lock, unlock, holder };
}

/** Standard error of an action. */
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

test("short reads and writes are continued", async (t) => {
  const { cwd, read_tail, write, patch, lock, holder } = host(t);
  await write({ path: "a", bytes: bytes("0123456789") });
  const least = (usual) =>
    function (buffer, offset, length, position) {
      return usual.call(this, buffer, offset, Math.min(length, 3), position);
    };
  await replaceMethods(t, { read: least, write: least });
  await patch({ path: "a", offset_bytes: 1, old: bytes("12345678"), new: bytes("abcdefgh") });
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "0abcdefgh9");
  const { bytes: tail } = await read_tail({ path: "a", limit_bytes: 7 });
  assert.equal(new TextDecoder().decode(tail), "defgh9".padStart(7, "c"));
  await lock({ path: "lock" });
  assert.equal((await holder({ path: "lock" })).holder.process.pid, process.pid);
});

test("an error after the rename is an unknown outcome", async (t) => {
  const { cwd, write, append } = host(t);
  const sync = (usual) =>
    async function () {
      if ((await this.stat()).isDirectory()) throw error("EIO");
      return usual.call(this);
    };
  await replaceMethods(t, { sync });
  const expected = { kind: "unknown", message: /^`a` was written, but a power cut may undo that: / };
  await assert.rejects(write({ path: "a", bytes: bytes("1"), expect: "absent", durable: true }), expected);
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "1");
  const appended = { kind: "unknown", message: /^`b` was written, but / };
  await assert.rejects(append({ path: "b", bytes: bytes("1"), expect_len_bytes: 0 }), appended);
});

test("a file system that cannot sync folders causes one warning", async (t) => {
  const { cwd, write, append } = host(t);
  const sync = (usual) =>
    async function () {
      if ((await this.stat()).isDirectory()) throw error("EINVAL");
      return usual.call(this);
    };
  await replaceMethods(t, { sync });
  const words = await said(async () => {
    await write({ path: "a", bytes: bytes("1"), durable: true });
    await write({ path: "a", bytes: bytes("2"), durable: true });
    await append({ path: "b", bytes: bytes("2"), expect_len_bytes: 0 });
  });
  const place = `the file system of \`${cwd}\` cannot sync folders`;
  assert.equal(words, `warning: ${place};\n  a power cut may undo the last writes there\n`);
});

test("a folder without read permission can be written", async (t) => {
  const { cwd, write } = host(t);
  replace(t, "open", (usual) => async (path, ...more) => {
    if (path === cwd) throw error("EACCES");
    return usual(path, ...more);
  });
  assert.match(await said(() => write({ path: "a", bytes: bytes("1"), durable: true })), /cannot sync folders/);
  assert.equal(readFileSync(join(cwd, "a"), "utf8"), "1");
});

test("a failed write leaves no file, named or open", async (t) => {
  const { cwd, write, lock } = host(t);
  await write({ path: "a", bytes: bytes("1") });
  const refuse = () => async () => {
    throw error("EIO");
  };
  for (const step of ["chmod", "utimes", "writeFile"]) {
    await t.test(step, async (t) => {
      chmodSync(join(cwd, "a"), 0o640);
      const before = openFiles();
      await replaceMethods(t, { [step]: refuse });
      await assert.rejects(write({ path: "a", bytes: bytes("2"), durable: true }), { kind: "other" });
      assert.deepEqual(readdirSync(cwd), ["a"]);
      assert.equal(readFileSync(join(cwd, "a"), "utf8"), "1");
      assert.equal(openFiles(), before);
    });
  }
  await t.test("a lock", async (t) => {
    const before = openFiles();
    await replaceMethods(t, { writeFile: refuse });
    await assert.rejects(lock({ path: "lock" }), { kind: "other" });
    assert.deepEqual(readdirSync(cwd), ["a"]);
    assert.equal(openFiles(), before);
  });
});

test("an append that cannot be rolled back has an unknown outcome", async (t) => {
  const { append } = host(t);
  const refuse = (code) => () => async () => {
    throw error(code);
  };
  await replaceMethods(t, { datasync: refuse("ENOSPC"), truncate: refuse("EIO") });
  const expected = { kind: "unknown", message: /^cannot append to `a` as a whole: no space is left/ };
  await assert.rejects(append({ path: "a", bytes: bytes("1"), expect_len_bytes: 0 }), expected);
});

for (const code of ["EPERM", "ENOTSUP"]) {
  test(`locks and new files are published where a file system has no hard links (${code})`, async (t) => {
    const { cwd, write, lock, unlock, holder } = host(t);
    replace(t, "link", () => async () => {
      throw error(code);
    });
    await write({ path: "new", bytes: bytes("1"), expect: "absent", durable: true });
    await assert.rejects(write({ path: "new", bytes: bytes("2"), expect: "absent", durable: true }), { kind: "exists" });
    assert.equal(readFileSync(join(cwd, "new"), "utf8"), "1");
    await lock({ path: "lock", private: true });
    assert.equal((await holder({ path: "lock" })).holder.live, true);
    assert.equal(statSync(join(cwd, "lock")).mode & 0o777, 0o600);
    const other = effects(new NodeHost({ cwd, attended: false }));
    await assert.rejects(other.lock({ path: "lock" }), { kind: "busy" });
    await unlock({ path: "lock" });
    assert.deepEqual(readdirSync(cwd), ["new"]);
  });
}

test("a published name stays although the temporary one cannot be removed", async (t) => {
  const { cwd, lock, unlock } = host(t);
  replace(t, "unlink", (usual) => async (path) => {
    if (String(path).endsWith(".tmp")) throw error("EIO");
    return usual(path);
  });
  await lock({ path: "lock" });
  await unlock({ path: "lock" });
  assert.ok(!readdirSync(cwd).includes("lock"));
});

test("the owner tells a file of another user, and root's files are not of another user", async (t) => {
  const { cwd, stat } = host(t);
  await fs.writeFile(join(cwd, "a.txt"), "a");
  assert.ok(!(await stat({ path: "a.txt" })).foreign);
  assert.ok(!(await stat({ path: "/etc" })).foreign);
  // Only root can change the owner of a file. Other users replace their own id.
  const user = process.geteuid();
  if (user === 0) await fs.chown(join(cwd, "a.txt"), 12_345, -1);
  else t.mock.method(process, "geteuid", () => user + 1);
  assert.equal((await stat({ path: "a.txt" })).foreign, true);
});
