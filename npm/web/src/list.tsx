// Everything on the machine: what waits for the person, the runs, the sessions and what they cost.

import { useRef, useState } from "preact/hooks";
import { Costs } from "./costs.js";
import type { Auto, Board, Call, Card, Session, State } from "./facts.js";
import { useKeys } from "./keys.js";
import type { Said } from "./live.js";
import { post, useNow } from "./live.js";
import { Ago, Answer, Link, Mark, useCalm } from "./parts.js";
import { choose, go } from "./place.js";
import { counted, duration, money, workedMs } from "./words.js";

/** Things that wait and are shown at once, so that the runs stay on the first screen. */
const INBOX_AT_ONCE = 8;

/** Runs that are shown at once; what they cost stands below them. */
const RUNS_AT_ONCE = 60;

export function List({ facts, query, look }: { facts: Board; query: URLSearchParams; look: () => void }) {
  const now = useNow(facts.now);
  const { runs, calls, sessions, autos, left_out: leftOut } = facts.board;
  const waiting = runs.filter((run) => run.state === "waits");
  const killed = autos.filter((auto) => facts.states[auto.state]?.needs_person === true);
  const count = waiting.length + calls.length + killed.length;
  const shown = filtered(runs, facts.states, query);
  const [most, setMost] = useState(INBOX_AT_ONCE);
  const [mostRuns, setMostRuns] = useState(RUNS_AT_ONCE);
  const rows = shown.slice(0, mostRuns);
  const [selected, select] = useState<string>();
  const search = useRef<HTMLInputElement>(null);
  const move = (by: number) => {
    const at = rows.findIndex((run) => run.id === selected);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
    if (next === undefined) return;
    select(next.id);
    document.getElementById(`run-${next.id}`)?.focus();
  };
  const open = (words: string) => () => {
    const run = shown.find(({ id }) => id === selected);
    if (run !== undefined) go(`/run/${run.id}${words}`);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: open(""),
    a: open("?tab=decision&focus=approve"),
    r: open("?tab=decision&focus=redo"),
    "/": () => search.current?.focus(),
  });
  return (
    <main id="main">
      <h1>{count === 0 ? "Nothing waits for you" : count === 1 ? "1 thing waits for you" : `${count} things wait for you`}</h1>
      {count > 0 && (
        <ul class="inbox" aria-label="Waiting for you">
          {waiting.slice(0, most).map((run) => <WaitingRun key={run.id} run={run} now={now} />)}
          {calls.slice(0, Math.max(0, most - waiting.length)).map((call) => <WaitingCall key={call.id} call={call} token={facts.tokens[call.id] ?? ""} now={now} look={look} />)}
          {killed.slice(0, Math.max(0, most - waiting.length - calls.length)).map((auto) => <AutoItem key={auto.id} auto={auto} state={facts.states[auto.state]} now={now} />)}
        </ul>
      )}
      {count > most && <button type="button" onClick={() => setMost(count)}>Show all {count}</button>}
      <h2>Runs</h2>
      {runs.length === 0
        ? <p>No run yet. Start one with <code>onloop run FILE</code>; it appears here.</p>
        : <Filters runs={runs} states={facts.states} query={query} shown={shown.length} search={search} />}
      {shown.length > 0 && (
        <>
          <div class="row head" aria-hidden="true">
            <span>State</span><span>Intent</span><span>Repository and branch</span><span>Steps</span><span>Agent</span>
            <span class="number">Time</span><span class="number">Cost</span><span class="number">Changed</span>
          </div>
          <ul class="rows" aria-label="Runs">
            {rows.map((run) => <Row key={run.id} run={run} state={facts.states[run.state]} now={now} onFocus={() => select(run.id)} />)}
          </ul>
          {rows.length < shown.length && <button type="button" class="more" onClick={() => setMostRuns(shown.length)}>Show all {shown.length} runs</button>}
        </>
      )}
      {leftOut > 0 && <p class="faint">{counted(leftOut, "older run")} not shown: <code>onloop list --everywhere</code></p>}
      <Autos autos={autos} states={facts.states} now={now} />
      <Sessions sessions={sessions} now={now} />
      <Costs days={facts.days} agents={facts.agents} now={now} />
    </main>
  );
}

/** Several states have the same words, which stand for all of them. */
const wordsOf = (state: string, states: Record<string, State>): string => states[state]?.words ?? state;

function filtered(runs: Card[], states: Record<string, State>, query: URLSearchParams): Card[] {
  const [state, repository] = [query.get("state"), query.get("repository")];
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/);
  return runs.filter((run) => {
    const text = [run.id, run.intent, run.repository, run.branch, run.agent, run.now, run.step_name].join("\n").toLowerCase();
    return (state === null || wordsOf(run.state, states) === wordsOf(state, states)) && (repository === null || run.repository === repository) && words.every((word) => text.includes(word));
  });
}

interface FiltersProps {
  runs: Card[];
  states: Record<string, State>;
  query: URLSearchParams;
  shown: number;
  search: { current: HTMLInputElement | null };
}

function Filters({ runs, states, query, shown, search }: FiltersProps) {
  const chips = new Map<string, { state: string; count: number }>();
  for (const state of Object.keys(states)) {
    const words = wordsOf(state, states);
    const count = runs.filter((run) => run.state === state).length;
    if (count > 0) chips.set(words, { state: chips.get(words)?.state ?? state, count: count + (chips.get(words)?.count ?? 0) });
  }
  const repositories = [...new Set(runs.map((run) => run.repository))].filter((name) => name !== "").sort();
  const present = wordsOf(query.get("state") ?? "", states);
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label class="hidden" for="search">Search runs</label>
      <input
        id="search" ref={search} type="search" placeholder="Search intent, repository, branch, agent" value={query.get("q") ?? ""}
        onInput={(event) => choose({ q: event.currentTarget.value })}
      />
      <label class="hidden" for="repository">Repository</label>
      <select id="repository" value={query.get("repository") ?? ""} onChange={(event) => choose({ repository: event.currentTarget.value })}>
        <option value="">All repositories</option>
        {repositories.map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
      <div class="chips" role="group" aria-label="State">
        {[["All", { state: "", count: runs.length }] as const, ...chips].map(([words, { state, count }]) => (
          <button key={state} type="button" class="chip" aria-pressed={wordsOf(state, states) === present} onClick={() => choose({ state })}>
            {state !== "" && <Mark symbol={states[state]?.mark ?? ""} />} {words} <span class="faint">{count}</span>
          </button>
        ))}
      </div>
      <span class="hidden" role="status">{counted(shown, "run")} shown</span>
    </form>
  );
}

function WaitingRun({ run, now }: { run: Card; now: number }) {
  return (
    <li>
      <Mark symbol="⏸" />
      <Link class="what" to={`/run/${run.id}?tab=decision`}>
        <strong dir="auto">{run.intent === "" ? run.id : run.intent}</strong> <span dir="auto">{run.now}</span>
      </Link>
      <span class="faint">{[run.repository, run.branch].filter(Boolean).join(" · ")} · <Ago at={run.since ?? run.changed_at} now={now} /></span>
      <Link class="button" to={`/run/${run.id}?tab=decision`}>Review</Link>
    </li>
  );
}

function WaitingCall({ call, token, now, look }: { call: Call; token: string; now: number; look: () => void }) {
  const [said, setSaid] = useState<Said>();
  const isCalm = useCalm(call.id);
  const answer = (word: string) => async () => {
    if (!isCalm()) return;
    setSaid(await post(`/call/${call.id}`, token, { answer: word }));
    look();
  };
  return (
    <li class="call" aria-label={`An agent wants to use ${call.tool}`}>
      <p><Mark symbol="⏸" /> <strong>An agent wants to use {call.tool}</strong> <span class="faint"><Ago at={call.since} now={now} /> · in {call.folder}</span></p>
      <pre tabIndex={0} aria-label="The call">{call.target}</pre>
      <p class="faint">{call.reason}</p>
      {!call.complete && <p>There is more than fits here: <code>onloop approve {call.id}</code></p>}
      <p class="choices">
        {call.complete && <button type="button" class="main" onClick={() => void answer("allow")()}>Allow once</button>}
        <button type="button" class="no" onClick={() => void answer("deny")()}>Deny</button>
      </p>
      <Answer said={said} />
    </li>
  );
}

function Row({ run, state, now, onFocus }: { run: Card; state: State | undefined; now: number; onFocus: () => void }) {
  const title = run.intent === "" ? run.id : run.intent;
  return (
    <li class={`row${state?.needs_person === true ? " attention" : ""}`} onFocusCapture={onFocus} title={`${run.id}: ${run.now}`}>
      <span class="state"><Mark symbol={state?.mark ?? ""} /> {state?.words}</span>
      <span class="intent"><Link id={`run-${run.id}`} to={`/run/${run.id}`}><span dir="auto">{title}</span></Link></span>
      <span class="place"><span dir="auto">{run.repository}</span> <span class="faint">{run.branch}</span></span>
      <span class="steps">{run.steps > 0 && <Bar done={run.done} steps={run.steps} />}</span>
      <span class="agent">{run.agent}</span>
      <span class="number took">{run.steps > 0 && duration(workedMs(run, now))}</span>
      <span class="number cost">{run.cost_usd !== undefined && run.cost_usd > 0 && money(run.cost_usd)}</span>
      <span class="number when"><Ago at={run.changed_at} now={now} /></span>
    </li>
  );
}

export function Bar({ done, steps }: { done: number; steps: number }) {
  return (
    <>
      <progress max={steps} value={done} aria-label={`${done} of ${counted(steps, "step")} done`} /> <span aria-hidden="true">{done}/{steps}</span>
    </>
  );
}

function Autos({ autos, states, now }: { autos: Auto[]; states: Record<string, State>; now: number }) {
  if (autos.length === 0) return null;
  return (
    <>
      <h2>rw-auto</h2>
      <ul class="sessions">{autos.map((auto) => <AutoItem key={auto.id} auto={auto} state={states[auto.state]} now={now} />)}</ul>
    </>
  );
}

function AutoItem({ auto, state, now }: { auto: Auto; state: State | undefined; now: number }) {
  return (
    <li class="call">
      <Mark symbol={state?.mark ?? ""} /> <strong>{state?.words}</strong> <span dir="auto">rw-auto: {auto.now}</span>
      <span class="faint">{" "}· {auto.id} · <Ago at={auto.since} now={now} /> · in {auto.folder} · <code>{auto.stop}</code></span>
    </li>
  );
}

const ACTIVITIES: Record<string, [string, string]> = {
  waits: ["⏸", "Waiting for you"],
  unreadable: ["?", "Unreadable"],
  limited: ["⏳", "Rate limited"],
  quiet: ["?", "Quiet"],
  working: ["→", "Running"],
  ended: ["", "Ended"],
};

function Sessions({ sessions, now }: { sessions: Session[]; now: number }) {
  if (sessions.length === 0) return null;
  const page = (word: string, number: number | undefined, url: string | undefined) =>
    number !== undefined && <> · {url === undefined ? `${word} #${number}` : <a href={url}>{word} #{number}</a>}</>;
  return (
    <>
      <h2>Hands-off sessions</h2>
      <ul class="sessions">
        {sessions.map((session) => {
          const [mark, words] = ACTIVITIES[session.activity] ?? ["", session.activity];
          return (
            <li key={`${session.folder} ${session.id}`}>
              <Mark symbol={mark} /> <strong>{words}</strong> <span dir="auto">{session.goal === "" ? session.workflow : session.goal}</span>
              {session.now !== "" && <span dir="auto"> · {session.now}</span>}
              <span class="faint">
                {" "}· {session.id}{page("issue", session.issue, session.issue_url)}{page("pull request", session.pull_request, session.pull_request_url)}
                {" "}· continued {counted(session.continued, "time")}{session.used !== undefined && ` · ${session.used}`} · <Ago at={session.changed_at} now={now} /> · in {session.folder}
              </span>
            </li>
          );
        })}
      </ul>
    </>
  );
}
