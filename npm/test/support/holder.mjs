// A process around the Node host with the verbs of the native test program.

import { Failure, NodeHost } from "../../dist/index.js";
import { effects } from "./effects.mjs";

const REFUSED = 4;
const host = effects(new NodeHost({ attended: false }));
const [verb, path, counter, rounds] = process.argv.slice(2);

try {
  if (verb === "hold") {
    await host.lock({ path });
    await host.say({ to: "result", text: "held\n" });
    await host.sleep({ duration_ms: 60_000 });
  } else if (verb === "count") {
    for (let round = 0; round < Number(rounds); round += 1) {
      await host.lock({ path, wait_ms: 60_000 });
      // A second holder would show as an existing mark or a lost addition.
      await host.write({ path: `${counter}.inside`, bytes: new Uint8Array(0), expect: "absent" });
      const found = await host.read({ path: counter, limit_bytes: 100 }).catch(() => ({ bytes: new Uint8Array(0) }));
      const value = Number(new TextDecoder().decode(found.bytes)) + 1;
      await host.write({ path: counter, bytes: new TextEncoder().encode(String(value)) });
      await host.remove({ path: `${counter}.inside` });
      await host.unlock({ path });
    }
  }
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stdout.write(`${error.message}\n`);
  process.exitCode = REFUSED;
}
