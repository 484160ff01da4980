// A process around the Node host with the verbs of the native test program.

import { Failure, NodeHost } from "../../dist/index.js";

const REFUSED = 4;
const host = new NodeHost({ attended: false });
const { files, locks, clock, terminal } = host;
const [verb, lock, counter, rounds] = process.argv.slice(2);

try {
  if (verb === "hold") {
    await locks.lock(lock, 0, clock.nowMs());
    await terminal.say("result", "held\n");
    await clock.sleep(60_000);
  } else if (verb === "count") {
    for (let round = 0; round < Number(rounds); round += 1) {
      await locks.lock(lock, 60_000, clock.nowMs());
      // A second holder would show as a mark that is already there, or as a lost addition.
      await files.write(`${counter}.inside`, new Uint8Array(0), "absent", false);
      const found = await files.read(counter, 100).catch(() => ({ bytes: new Uint8Array(0) }));
      const value = Number(new TextDecoder().decode(found.bytes)) + 1;
      await files.write(counter, new TextEncoder().encode(String(value)), "any", false);
      await files.remove(`${counter}.inside`);
      await locks.unlock(lock);
    }
  }
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exitCode = REFUSED;
}
