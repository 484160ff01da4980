/** Chooses between the native program and the core in this process. */

import { find, run } from "./native.js";

/** The version of the package, which the bundler inserts. */
declare const VERSION: string;

const EXIT_REFUSED = 4;

/** Runs the command line of this process under `name`. */
export async function begin(name: string): Promise<void> {
  const argv = [name, ...process.argv.slice(2)];
  const native = find();
  const asksVersion = argv.length === 2 && (argv[1] === "--version" || argv[1] === "-V");
  // Both programs give the same results, so only people read which one runs.
  if (asksVersion) {
    const who =
      native === undefined
        ? `WebAssembly in Node ${process.versions.node}`
        : `native program \`${native.path}\`, ${native.because}`;
    process.stderr.write(`${who}\n`);
  }
  if (native !== undefined) {
    try {
      process.exitCode = await run(native, argv);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const what = `cannot run \`${native.path}\`, ${native.because}: ${why}`;
      process.stderr.write(`error: ${what}\n`);
      process.exitCode = EXIT_REFUSED;
    }
    return;
  }
  // Answered without the core, which takes longest to load.
  if (asksVersion) {
    process.stdout.write(`onloop ${VERSION}\n`);
    return;
  }
  const { main } = await import("./cli.js");
  process.exitCode = await main(argv, new URL("./onloop.wasm", import.meta.url));
}
