// Small parts that several views share.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Graph } from "./facts.js";
import type { Said } from "./live.js";
import { go } from "./place.js";
import { isReport } from "./report_source.js";
import { source } from "./source.js";
import { ago, moment } from "./words.js";

/** Few machines have letters for these, so they are drawn. */
const DRAWN: Record<string, string> = {
  "⏸": "M1 0h2v8H1zM5 0h2v8H5z",
  "⏳": "M1 0h6L4.5 4 7 8H1l2.5-4z",
  "→": "M0 3h4V0l4 4-4 4V5H0z",
};

const CLASSES: Record<string, string> = {
  "✓": "good",
  "⚡": "good",
  "✗": "bad",
  "!": "bad",
  "■": "bad",
  "⏸": "wait",
  "⏳": "wait",
  "?": "wait",
  "○": "wait",
  "→": "act",
};

export const classOf = (symbol: string): string => CLASSES[symbol] ?? "faint";

export function Mark({ symbol }: { symbol: string }) {
  const path = DRAWN[symbol];
  return (
    <span class={`mark ${classOf(symbol)}`} aria-hidden="true">
      {path === undefined ? symbol : <svg viewBox="0 0 8 8"><path d={path} fill="currentColor" /></svg>}
    </span>
  );
}

/** Which step needs which others. */
export function StepGraph({ graph, selected }: { graph: Graph; selected: number }) {
  return (
    <svg class="graph" viewBox={`0 0 ${graph.width} ${graph.height}`} width={graph.width} height={graph.height} role="img" aria-label={graph.label}>
      {graph.lines.map((line) => <path key={line} d={line} />)}
      {graph.steps.map((step) => (
        <g key={step.number} class={`${classOf(step.symbol)}${step.number === selected ? " selected" : ""}`}>
          <title>{step.title}</title>
          <circle cx={step.x} cy={step.y} r="11" />
          <text x={step.x} y={step.y}>{step.number}</text>
        </g>
      ))}
    </svg>
  );
}

/** A link to a place of the page; with a modifier the browser opens it elsewhere, if it has an address. */
export function Link({ to, children, ...rest }: { to: string; children: ComponentChildren; class?: string; id?: string }) {
  const follow = (event: MouseEvent) => {
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;
    if (isElsewhere && source.start === undefined) return;
    event.preventDefault();
    // An editor would look for a file of this name.
    event.stopPropagation();
    go(to);
  };
  return <a href={source.root + to} onClick={follow} {...rest}>{children}</a>;
}

export function Ago({ at, now }: { at: string | undefined; now: number }) {
  if (at === undefined) return null;
  const words = moment(at);
  return <time dateTime={at} title={words}>{isReport ? words : ago(now - Date.parse(at))}</time>;
}

/** What onloop said about a decision. */
export function Answer({ said }: { said: Said | undefined }) {
  if (said === undefined) return null;
  return said.isDone
    ? <pre class="answer good" role="status">{said.said === "" ? "Done." : said.said}</pre>
    : <pre class="answer bad" role="alert">{said.said}</pre>;
}

/** Time in which a click still means what was there before. */
const CALM_MS = 700;

/** Whether a click counts: not just after `key`, which names what the buttons are about, has changed. */
export function useCalm(key: string): () => boolean {
  const from = useRef({ key, at: -CALM_MS });
  useEffect(() => {
    if (from.current.key !== key) from.current = { key, at: performance.now() };
  }, [key]);
  return () => from.current.key === key && performance.now() - from.current.at >= CALM_MS;
}
