// When the agent of the real Codex wants to stop: Codex itself has no bound on how often it is
// sent on, so ours is the only one.

import { codex } from "./clients.mjs";
import { continues } from "./runs.mjs";

continues(codex, { words: [codex.trusted] });
