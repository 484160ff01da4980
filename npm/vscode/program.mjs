// The command line, as the extension carries it: `program.js FILE WORD…`, where FILE is what started this.

import { pathToFileURL } from "node:url";
import { main } from "../dist/cli.js";

const [, self, started, ...words] = process.argv;
// What this starts is no editor any more.
delete process.env.ELECTRON_RUN_AS_NODE;
main(["onloop", ...words], new URL("./onloop.wasm", pathToFileURL(self)), [started]).then((exit) => {
  process.exitCode = exit;
});
