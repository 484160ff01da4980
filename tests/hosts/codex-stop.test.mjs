// The Stop hook in the real Codex. Codex has no limit for continuations, so ours is the
// only one.

import { codex } from "./clients.mjs";
import { continues } from "./runs.mjs";

continues(codex, { words: [codex.trusted] });
