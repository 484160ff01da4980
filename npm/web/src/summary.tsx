// A run as a whole: what was wanted, what a person should look at, and what proves it.

import type { RunFacts, Summary } from "./facts.js";
import { useFacts } from "./live.js";
import { Markdown } from "./markdown.js";
import { Mark } from "./parts.js";
import { duration, money, moment } from "./words.js";

export function SummaryView({ facts }: { facts: RunFacts }) {
  const { card, steps } = facts.run;
  const summary = useFacts<Summary>(`/data/run/${card.id}/summary`, facts.seen);
  if (summary === undefined) return <p class="faint">Reading the summary…</p>;
  const { warnings, review } = summary;
  const overview: [string, string][] = [
    ["Risk", card.risk],
    ["Steps done", `${card.done} of ${card.steps}`],
    ["Checks passed", `${summary.passed} of ${summary.checks}`],
    ["Attempts", String(card.attempts)],
    ["Worked for", duration(card.active_ms)],
    ["Tokens", card.tokens === 0 ? "" : String(card.tokens ?? "unknown")],
    ["Cost", card.cost_usd === 0 ? "" : card.cost_usd === undefined ? "unknown" : money(card.cost_usd)],
    ["Started", moment(card.started_at)],
    ["Ended", moment(card.ended_at)],
  ];
  return (
    <>
      {warnings.length > 0 && <><h2>Look at this</h2><ul>{warnings.map((warning) => <li key={warning} class="wait" dir="auto">⚠ {warning}</li>)}</ul></>}
      {review !== undefined && <><h2>Review: {review.verdict}</h2><pre class="wraps" tabIndex={0} aria-label="Findings of the review" dir="auto">{review.findings}</pre></>}
      <h2>Done when</h2>
      <Markdown text={summary.success_criteria} />
      <h2>Overview</h2>
      <Pairs pairs={overview} />
      <h2>Steps</h2>
      {steps.map((step, index) => (
        <details key={step.number} open={steps.length <= 10}>
          <summary><Mark symbol={step.symbol} /> <span dir="auto">{step.number}. {step.name}</span> <span class="faint">{step.status}</span></summary>
          <Markdown text={summary.steps[index]?.action ?? ""} />
          {summary.steps[index]?.decisions.map((decision) => <p key={decision} class="faint" dir="auto">{decision}</p>)}
        </details>
      ))}
      <h2>Receipt</h2>
      <Pairs pairs={summary.receipt} />
      <p class="faint">This page proves nothing by itself. The signed receipt does: <code>onloop receipt {card.id} --format intoto</code></p>
    </>
  );
}

function Pairs({ pairs }: { pairs: [string, string][] }) {
  return <dl class="facts">{pairs.map(([name, value]) => value !== "" && [<dt key={name}>{name}</dt>, <dd key={value}>{value}</dd>])}</dl>;
}
