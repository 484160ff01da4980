// The platforms that a native program is published for, and whether a file is a program for one of them.

import { openSync, readSync, closeSync } from "node:fs";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";

/** As Node names them, and as Rust does. */
export const TARGETS = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
  "win32-x64": "x86_64-pc-windows-msvc",
};
export const PLATFORMS = Object.keys(TARGETS);

/** What the program is called there. */
export const programName = (platform) => (platform.startsWith("win32-") ? "onloop.exe" : "onloop");

const ELF_MACHINES = { 62: "x64", 183: "arm64" };
const MACH_MACHINES = { 0x01000007: "x64", 0x0100000c: "arm64" };
const PE_MACHINES = { 0x8664: "x64", 0xaa64: "arm64" };
/** The program header that names the loader of shared libraries. */
const PT_INTERP = 3;
/** Headers of programs are within the first of these bytes. */
const HEAD_BYTES = 64 * 1024;

/**
 * What the head of a program says: its platform, and on Linux the `loader` of its shared libraries, which a program
 * that has its C library inside does not name. Throws where the bytes are no program of a kind that is published.
 */
export function describe(head) {
  if (head.length >= 64 && head.readUInt32BE(0) === 0x7f454c46) return describeElf(head);
  if (head.length >= 32 && head.readUInt32LE(0) === 0xfeedfacf) {
    return { platform: `darwin-${MACH_MACHINES[head.readUInt32LE(4)] ?? "unknown"}` };
  }
  if (head.length >= 64 && head.toString("latin1", 0, 2) === "MZ") {
    const at = head.readUInt32LE(0x3c);
    if (at + 6 <= head.length && head.toString("latin1", at, at + 4) === "PE\0\0") {
      return { platform: `win32-${PE_MACHINES[head.readUInt16LE(at + 4)] ?? "unknown"}` };
    }
  }
  throw new Error("not a 64-bit program for Linux, macOS or Windows");
}

function describeElf(head) {
  if (head[4] !== 2 || head[5] !== 1) throw new Error("not a 64-bit little-endian ELF file");
  const platform = `linux-${ELF_MACHINES[head.readUInt16LE(18)] ?? "unknown"}`;
  const [first, size, count] = [Number(head.readBigUInt64LE(32)), head.readUInt16LE(54), head.readUInt16LE(56)];
  for (let at = first; at < first + size * count; at += size) {
    if (at + 56 > head.length) throw new Error("its program headers are cut off");
    if (head.readUInt32LE(at) !== PT_INTERP) continue;
    const [from, length] = [Number(head.readBigUInt64LE(at + 8)), Number(head.readBigUInt64LE(at + 32))];
    return { platform, loader: head.toString("latin1", from, from + length).replace(/\0.*$/s, "") };
  }
  return { platform };
}

/** The same for a file, which has to be for `platform`. */
export function describeProgram(path, platform) {
  const head = Buffer.alloc(HEAD_BYTES);
  const file = openSync(path, "r");
  let length;
  try {
    length = readSync(file, head, 0, HEAD_BYTES, 0);
  } finally {
    closeSync(file);
  }
  let found;
  try {
    found = describe(head.subarray(0, length));
  } catch (error) {
    throw new Error(`${path}: ${error.message}`);
  }
  if (found.platform !== platform) throw new Error(`${path}: expected a program for ${platform}; found one for ${found.platform}`);
  return found;
}

/** What `PLATFORM=BINARY...` on a command line names, each of them looked at. */
export function readPrograms(words) {
  return words.map((word) => {
    const at = word.indexOf("=");
    const [platform, path] = [word.slice(0, at), word.slice(at + 1)];
    if (!PLATFORMS.includes(platform)) throw new Error(`\`${word}\`: expected PLATFORM=BINARY, PLATFORM one of ${PLATFORMS.join(", ")}`);
    return { platform, path, ...describeProgram(path, platform) };
  });
}

// `node platforms.mjs PLATFORM BINARY`: refuses what cannot be published as the program for that platform.
if (argv[1] === fileURLToPath(import.meta.url)) {
  const [platform, binary] = argv.slice(2);
  if (binary === undefined) {
    console.error("usage: node platforms.mjs PLATFORM BINARY");
    exit(2);
  }
  try {
    const { loader } = describeProgram(binary, platform);
    if (loader !== undefined) throw new Error(`${binary}: it needs the shared libraries that \`${loader}\` loads; link it with ONLOOP_LINK=static`);
    console.log(`${binary}: a program for ${platform}`);
  } catch (error) {
    console.error(`error: ${error.message}`);
    exit(1);
  }
}
