// When each step of a run was worked on, up to its end or to now.

import type { RunFacts, Step } from "./facts.js";
import { classOf, Mark } from "./parts.js";
import { between, clock, duration } from "./words.js";

const UNITS = 1000;

interface Bar {
  step: Step;
  from: number;
  to: number;
}

/** When a step ended: one that is under way, or waits, has not. */
function endOf(step: Step, isWaiting: boolean, end: number): number {
  return step.completed_at === undefined || isWaiting ? end : Date.parse(step.completed_at);
}

export function Timeline({ facts, now }: { facts: RunFacts; now: number }) {
  const { card, steps, choice } = facts.run;
  const isOver = facts.states[card.state]?.is_over === true;
  const last = isOver ? card.ended_at ?? card.changed_at : undefined;
  const end = last === undefined ? now : Date.parse(last);
  const bars: Bar[] = steps.flatMap((step) => {
    if (step.started_at === undefined) return [];
    const from = Date.parse(step.started_at);
    return [{ step, from, to: Math.max(from, endOf(step, choice?.step === step.number, end)) }];
  });
  if (card.started_at === undefined || bars.length === 0) return null;
  const start = Math.min(Date.parse(card.started_at), ...bars.map(({ from }) => from));
  const place = (at: number) => Math.round((UNITS * (at - start)) / Math.max(1, end - start));
  return (
    <table class="timeline">
      <caption class="hidden">When each step was worked on</caption>
      <tbody>
        {bars.map(({ step, from, to }) => (
          <tr key={step.number}>
            <th scope="row" dir="auto"><Mark symbol={step.symbol} /> {step.number}. {step.name}</th>
            <td class="bar">
              <svg viewBox={`0 0 ${UNITS} 10`} preserveAspectRatio="none" aria-hidden="true">
                <rect class={classOf(step.symbol)} x={Math.min(place(from), UNITS - 4)} y="1" width={Math.max(4, place(to) - place(from))} height="8" />
              </svg>
            </td>
            <td class="number">{duration(to - from)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr class="faint">
          <td />
          <td class="bar"><span>{clock(new Date(start).toISOString())}</span><span>{isOver ? clock(new Date(end).toISOString()) : "now"}</span></td>
          <td class="number">{duration(between(card.started_at, new Date(end).toISOString()) ?? 0)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
