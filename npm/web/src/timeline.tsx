// When each step of a run was worked on or waited for a person, up to its end or to now.

import type { RunFacts, Span } from "./facts.js";
import { Mark } from "./parts.js";
import { isReport } from "./report_source.js";
import { clock, duration } from "./words.js";

const UNITS = 1000;

const KINDS: Record<Span["kind"], [color: string, words: string]> = {
  acted: ["good", "attempt"],
  failed: ["bad", "failed attempt"],
  waits: ["wait", "waited for you"],
};

const sumOf = (spans: { took: number }[]): number => spans.reduce((sum, { took }) => sum + took, 0);

export function Timeline({ facts, now }: { facts: RunFacts; now: number }) {
  const { run: { card, steps }, spans } = facts;
  const isOver = facts.states[card.state]?.is_over === true;
  const goesOn = card.state === "running" || facts.states[card.state]?.needs_person === true;
  const last = (isOver ? card.ended_at : undefined) ?? card.changed_at;
  // What is under way ends now, and so does the picture; what was interrupted ended with its record.
  const open = goesOn || last === undefined ? now : Date.parse(last);
  const end = isOver ? open : now;
  if (card.started_at === undefined || spans.length === 0) return null;
  const start = Date.parse(card.started_at);
  const place = (at: number) => Math.round((UNITS * (at - start)) / Math.max(1, end - start));
  const rows = steps.flatMap((step) => {
    const own = spans.filter((span) => span.step === step.number).map(({ kind, from, to }) => {
      const [begun, ended] = [Date.parse(from), to === undefined ? open : Date.parse(to)];
      const [color, words] = kind === "acted" && to === undefined ? ["act", "attempt"] : KINDS[kind];
      return { color, words, kind, from: place(begun), to: place(ended), took: Math.max(0, ended - begun) };
    });
    return own.length === 0 ? [] : [{ step, own }];
  });
  return (
    <table class="timeline">
      <caption class="hidden">When each step was worked on, and when it waited for a person</caption>
      <tbody>
        {rows.map(({ step, own }) => (
          <tr key={step.number}>
            <th scope="row" dir="auto"><Mark symbol={step.symbol} /> {step.number}. {step.name}</th>
            <td class="bar">
              <svg viewBox={`0 0 ${UNITS} 10`} preserveAspectRatio="none" role="img" aria-label={own.map(({ words, took }) => `${words} ${duration(took)}`).join(", ")}>
                {own.map(({ color, words, from, to, took }, index) => (
                  <rect key={index} class={color} x={Math.min(from, UNITS - 4)} y="1" width={Math.max(4, to - from - 1)} height="8"><title>{words}, {duration(took)}</title></rect>
                ))}
              </svg>
            </td>
            <td class="number">
              {duration(sumOf(own.filter(({ kind }) => kind !== "waits")))}
              {own.some(({ kind }) => kind === "waits") && <div class="wait">waited {duration(sumOf(own.filter(({ kind }) => kind === "waits")))}</div>}
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr class="faint">
          <td />
          <td class="bar"><span>{clock(card.started_at)}</span><span>{isOver || isReport ? clock(new Date(end).toISOString()) : "now"}</span></td>
          <td class="number">{duration(end - start)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
