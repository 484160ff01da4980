// The real opencode with our plugin, an empty HOME and a model on loopback.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { failsClosed, guards } from "./claims.mjs";
import { opencode } from "./clients.mjs";

const ran = (project) => !existsSync(join(project, "victim"));
guards(opencode, { denied: "rm -rf victim", ran });
failsClosed(opencode);
