// Rate limits of providers.

import { claude } from "./clients.mjs";

const soon = (s) => Math.floor(Date.now() / 1000) + s;

/** A turn that is refused `times` times before it is `turn`. */
export const after = (times, refusal, turn) => {
  let left = times;
  return (heard) => (left-- > 0 ? refusal(heard) : turn);
};

/** The rate-limit answer of each provider, with the seconds until its end. */
export const LIMIT = {
  claude: (s) => ({
    status: 429,
    headers: {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": soon(s),
      "anthropic-ratelimit-unified-representative-claim": "five_hour",
      "anthropic-ratelimit-unified-overage-status": "rejected",
      "anthropic-ratelimit-unified-overage-disabled-reason": "org_level_disabled",
      "anthropic-ratelimit-unified-5h-status": "rejected",
      "anthropic-ratelimit-unified-5h-reset": soon(s),
      "anthropic-ratelimit-unified-5h-utilization": "1.02",
    },
    error: { type: "rate_limit_error", message: "This request would exceed your account's rate limit." },
  }),
  codex: (s) => ({
    status: 429,
    headers: {
      "x-codex-primary-used-percent": "100",
      "x-codex-primary-window-minutes": "300",
      "x-codex-primary-reset-at": soon(s),
    },
    error: { type: "usage_limit_reached", message: "limit", plan_type: "plus", resets_at: soon(s) },
  }),
  opencode: (s) => ({
    status: 429,
    headers: { "retry-after": s },
    error: { type: "rate_limit_error", message: "Rate limit reached", code: "rate_limit_exceeded" },
  }),
};

/** Claude Code learns the end of a limit only with a subscription. */
export function subscribed(client, place) {
  if (client !== claude) return place;
  const { ANTHROPIC_API_KEY: _, ...env } = place.env;
  return { ...place, env: { ...env, CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-fake" } };
}
