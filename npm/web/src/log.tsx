// What the agent of an attempt said and did, oldest first, between the moments that onloop recorded.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Attempt, TextLine } from "./facts.js";
import { between, clock, duration } from "./words.js";

interface Line extends TextLine {
  /** A moment that onloop recorded. */
  isOurs?: true;
}

/** The lines of the log, and around them what onloop did, with its time. */
function linesOf(attempt: Attempt, log: TextLine[]): Line[] {
  const took = between(attempt.started_at, attempt.acted_at);
  const agent = attempt.agent === undefined ? "" : ` with ${attempt.agent}`;
  const checks = attempt.checks.filter((check) => check.at !== undefined).map((check) => {
    const mark = check.result === "passed" ? "✓" : check.result === "failed" ? "✗" : "·";
    const time = check.took_ms === undefined ? "" : ` (${duration(check.took_ms)})`;
    return { isOurs: true as const, at: check.at ?? "", text: `${mark} ${check.what}: ${check.reason ?? check.result}${time}` };
  });
  return [
    { isOurs: true, at: attempt.started_at, text: `Attempt ${attempt.number} started${agent}` },
    ...log,
    ...(attempt.acted_at === undefined ? [] : [{ isOurs: true as const, at: attempt.acted_at, text: `The agent finished${took === undefined ? "" : ` after ${duration(took)}`}` }]),
    ...checks,
    ...(attempt.ended_at !== undefined && attempt.result === "failed" ? [{ isOurs: true as const, at: attempt.ended_at, text: `The attempt failed: ${attempt.reason ?? ""}` }] : []),
  ];
}

export function Log({ attempt, log, name }: { attempt: Attempt; log: TextLine[] | undefined; name: string }) {
  const pane = useRef<HTMLDivElement>(null);
  const [follows, follow] = useState(attempt.result === "open");
  const [wraps, wrap] = useState(true);
  const [wanted, want] = useState("");
  const [at, setAt] = useState(0);
  const lines = log === undefined ? [] : linesOf(attempt, log);
  const needle = wanted.toLowerCase();
  const hits = needle === "" ? [] : lines.flatMap((line, index) => (line.text.toLowerCase().includes(needle) ? [index] : []));
  const present = hits.length === 0 ? undefined : hits[((at % hits.length) + hits.length) % hits.length];
  useEffect(() => {
    if (follows && pane.current !== null) pane.current.scrollTop = pane.current.scrollHeight;
  }, [follows, lines.length]);
  useEffect(() => {
    if (present === undefined) return;
    follow(false);
    pane.current?.children[present]?.scrollIntoView({ block: "nearest" });
  }, [present]);
  const download = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob((log ?? []).map(({ text }) => `${text}\n`), { type: "text/plain" }));
    link.download = `${name}.log`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  if (log === undefined) return <p class="faint">Reading the log…</p>;
  return (
    <>
      <div class="tools">
        <label><input type="checkbox" checked={follows} onChange={(event) => follow(event.currentTarget.checked)} /> Follow</label>
        <label><input type="checkbox" checked={wraps} onChange={(event) => wrap(event.currentTarget.checked)} /> Wrap</label>
        <label class="find">
          <span>Find</span>
          <input
            type="search" value={wanted}
            onInput={(event) => { want(event.currentTarget.value); setAt(0); }}
            onKeyDown={(event) => { if (event.key === "Enter") setAt(at + (event.shiftKey ? -1 : 1)); }}
          />
        </label>
        <span class="faint" role="status">{wanted !== "" && (present === undefined ? "None" : `${hits.indexOf(present) + 1} of ${hits.length}`)}</span>
        <button type="button" class="quiet" onClick={download}>Download</button>
      </div>
      <div
        class={`log${wraps ? " wraps" : ""}`} ref={pane} tabIndex={0} role="log" aria-live="off" aria-label="Log"
        onWheel={(event) => { if (event.deltaY < 0) follow(false); }}
      >
        {lines.map((line, index) => (
          <div key={index} class={`line${line.isOurs === true ? " of-onloop" : ""}${index === present ? " present" : ""}`}>
            <span class="at">{line.at !== undefined && <time dateTime={line.at}>{clock(line.at)}</time>}</span>
            <span class="text" dir="auto">{needle === "" ? line.text : marked(line.text, needle)}</span>
          </div>
        ))}
      </div>
    </>
  );
}

/** `text` with each place marked where `needle` stands in it. */
function marked(text: string, needle: string) {
  const parts = [];
  const lower = text.toLowerCase();
  let from = 0;
  // Letters exist whose lower case is longer; then the places would be wrong.
  if (lower.length !== text.length) return text;
  for (let at = lower.indexOf(needle); at >= 0; at = lower.indexOf(needle, from)) {
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, at + needle.length)}</mark>);
    from = at + needle.length;
  }
  return [...parts, text.slice(from)];
}
