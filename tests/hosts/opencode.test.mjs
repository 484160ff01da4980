// The real opencode with our plugin, an empty HOME and a model on loopback.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { failsClosed, guards, upgrades } from "./claims.mjs";
import { opencode } from "./clients.mjs";

const ran = (project) => !existsSync(join(project, "victim"));
const about = { denied: "rm -rf victim", ran };
guards(opencode, about);
upgrades(opencode, about);
failsClosed(opencode, ["that is gone", "that stops in the middle of its answer"]);
