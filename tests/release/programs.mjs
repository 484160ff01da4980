// Files that look like programs for platforms which this machine does not build for: their headers are right, and
// they do nothing.

/** The bytes of a stand-in for a platform as Node names it. */
export function standIn(platform) {
  const [os, cpu] = platform.split("-");
  const bytes = Buffer.alloc(4096);
  if (os === "linux") {
    bytes.write("\x7fELF\x02\x01\x01", 0, "latin1");
    bytes.writeUInt16LE({ x64: 62, arm64: 183 }[cpu], 18);
    // One program header, which names no loader.
    bytes.writeBigUInt64LE(64n, 32);
    bytes.writeUInt16LE(56, 54);
    bytes.writeUInt16LE(1, 56);
    bytes.writeUInt32LE(1, 64);
  } else if (os === "darwin") {
    bytes.writeUInt32LE(0xfeedfacf, 0);
    bytes.writeUInt32LE({ x64: 0x01000007, arm64: 0x0100000c }[cpu], 4);
  } else {
    bytes.write("MZ", 0, "latin1");
    bytes.writeUInt32LE(128, 0x3c);
    bytes.write("PE\0\0", 128, "latin1");
    bytes.writeUInt16LE({ x64: 0x8664, arm64: 0xaa64 }[cpu], 132);
  }
  return bytes;
}

/** An ELF file that names a loader of shared libraries. */
export function linkedWith(loader, platform = "linux-x64") {
  const bytes = standIn(platform);
  bytes.writeUInt32LE(3, 64);
  bytes.writeBigUInt64LE(512n, 72);
  bytes.writeBigUInt64LE(BigInt(loader.length + 1), 96);
  bytes.write(`${loader}\0`, 512, "latin1");
  return bytes;
}
