// Checks and their results.

import type { Attempt, Check, EvaluatedCheck } from "./facts.js";
import { Ago, Mark } from "./parts.js";
import { duration } from "./words.js";

const RESULTS: Record<string, [string, string]> = {
  passed: ["✓", "passed"],
  failed: ["✗", "failed"],
  waits: ["⏸", "waits for you"],
  open: ["·", "not evaluated"],
};

export function CheckLine({ check, now }: { check: Check; now: number }) {
  const [mark, word] = RESULTS[check.result] ?? ["·", check.result];
  return (
    <>
      <p>
        <Mark symbol={mark} /> <code dir="auto">{check.what}</code>: {check.result === "failed" || check.result === "waits" ? check.reason ?? word : word}
        <span class="faint">{check.took_ms !== undefined && ` (${duration(check.took_ms)})`} <Ago at={check.at} now={now} /></span>
      </p>
      {check.warnings.map((warning) => <p key={warning} class="wait">⚠ {warning}</p>)}
      {check.opened !== undefined && <p class="faint">{check.opened}</p>}
    </>
  );
}

function Evaluated({ check, now }: { check: EvaluatedCheck; now: number }) {
  return (
    <li>
      <CheckLine check={check} now={now} />
      {check.output !== "" && (
        <details open={check.result === "failed"}>
          <summary>Output{check.exit_code !== undefined && `, exit code ${check.exit_code}`}</summary>
          <pre tabIndex={0} aria-label={`Output of ${check.what}`}>{check.output}</pre>
        </details>
      )}
      {check.output === "" && check.exit_code !== undefined && <p class="faint">No output, exit code {check.exit_code}</p>}
    </li>
  );
}

export function Checks({ attempt, now }: { attempt: Attempt; now: number }) {
  return (
    <>
      {attempt.result === "failed" && attempt.checks.length === 0 && (
        <>
          <p class="bad">The agent failed: {attempt.reason}</p>
          {attempt.output !== "" && <pre tabIndex={0} aria-label="The end of what the agent said">{attempt.output}</pre>}
        </>
      )}
      {attempt.checks.length === 0
        ? attempt.result !== "failed" && <p class="faint">{attempt.ended_at === undefined ? "No check has run in this attempt yet." : "No check verifies this step."}</p>
        : <ul class="checks">{attempt.checks.map((check) => <Evaluated key={check.what} check={check} now={now} />)}</ul>}
    </>
  );
}
