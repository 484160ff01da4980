// One run: its steps and attempts on the left, what one attempt left on the right.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Checks } from "./checks.js";
import { Actions, Advice, Blocked, Completed, Confirmed, Gate, capital, hasDecision, useSend } from "./decision.js";
import { DiffView, Scope, type Scopes } from "./diff.js";
import type { Attempt, Diff, RunFacts, Step, TextLine } from "./facts.js";
import { useKeys } from "./keys.js";
import { useFacts, useNow } from "./live.js";
import { Log } from "./log.js";
import { Ago, Answer, Link, Mark, StepGraph } from "./parts.js";
import { choose, go } from "./place.js";
import { isReport } from "./report_source.js";
import { SummaryView } from "./summary.js";
import { Timeline } from "./timeline.js";
import { between, clock, counted, duration, moment, money, tokens, workedMs } from "./words.js";

const TABS = ["decision", "log", "diff", "checks", "prompt", "events", "summary"] as const;
type Tab = (typeof TABS)[number];

export function RunView({ facts, query, look }: { facts: RunFacts; query: URLSearchParams; look: () => void }) {
  const now = useNow(facts.now);
  const { card, steps, choice, actions } = facts.run;
  const { send, said, isSending } = useSend(facts, look);
  const [draft, setDraft] = useState("");
  const begun = steps.filter((step) => step.attempts > 0).at(-1)?.number ?? 1;
  const present = (steps[card.step - 1]?.attempts ?? 0) > 0 ? card.step : begun;
  const number = within(Number(query.get("step") ?? choice?.step ?? present), steps.length);
  const attempts = useFacts<Attempt[]>(`/data/run/${card.id}/attempts?step=${number}`, facts.seen);
  const wanted = Number(query.get("attempt"));
  const attempt = attempts?.find((one) => one.number === wanted) ?? attempts?.at(-1);
  const tabs = TABS.filter((tab) => tab !== "decision" || hasDecision(facts));
  const named = tabs.find((tab) => tab === query.get("tab"));
  const tab = named ?? tabs[0] ?? "log";
  // Who leaves the decision for an attempt asks what that attempt changed.
  const next = tab === "decision" || tab === "summary" ? "diff" : tab;
  const move = (by: number) => choose({ step: String(within(number + by, steps.length)), attempt: "", tab: next });
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    u: () => isReport || go("/"),
    a: () => choose({ tab: "decision", focus: "approve" }),
    r: () => choose({ tab: "decision", focus: "redo" }),
    ...Object.fromEntries(tabs.map((tab, index) => [String(index + 1), () => choose({ tab })])),
  });
  const title = card.intent === "" ? card.id : card.intent;
  const state = facts.states[card.state];
  return (
    <main id="main" class="run">
      <header class="about">
        <h1 dir="auto">{title}</h1>
        <p>
          <strong><Mark symbol={state?.mark ?? ""} /> {state?.words}</strong> {capital(card.now) !== state?.words && <span dir="auto">{capital(card.now)}</span>} · <Ago at={card.since ?? card.changed_at} now={now} />
        </p>
        <p class="faint" dir="auto">
          {[card.repository, card.branch, card.agent, `worked for ${duration(workedMs(card, now))}`, card.used].filter(Boolean).join(" · ")}
        </p>
        {card.state === "abandoned" && facts.run.events.length > 0 && <p class="faint" dir="auto">{facts.run.events.at(-1)?.text}</p>}
        {card.pull_request !== undefined && (
          <p>
            <a href={card.pull_request.url}>Pull request</a>{card.pull_request.line !== undefined && `: ${card.pull_request.line}`}
          </p>
        )}
        <Answer said={said} />
        {draft !== "" && choice === undefined && <p class="wait">The decision was made elsewhere. Not sent: <q dir="auto">{draft}</q></p>}
        <Actions facts={facts} send={send} isSending={isSending} />
        {!hasDecision(facts) && <Advice advice={facts.advice} />}
      </header>
      <Steps facts={facts} selected={steps[number - 1]}>
        <ol>
          {steps.map((step) => (
            <StepItem
              key={step.number} step={step} isSelected={step.number === number} attempts={step.number === number ? attempts : undefined} attempt={attempt} next={next}
              reason={card.state === "blocked" && step.number === card.step ? undefined : step.reason}
            />
          ))}
        </ol>
        <dl class="facts">
          <dt>Run</dt><dd>{card.id}</dd>
          <dt>Folder</dt><dd>{card.folder}</dd>
          <dt>Workflow</dt><dd>{facts.run.workflow}</dd>
          <dt>Report</dt><dd>{facts.run.report}</dd>
        </dl>
      </Steps>
      <section class="evidence" aria-label="Evidence">
        <Tabs tabs={tabs} tab={tab} />
        <div class="panel" id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {tab === "decision" && (choice !== undefined
            ? <Gate key={choice.step} facts={facts} now={now} send={send} isSending={isSending} focus={query.get("focus")} of={query.get("of")} draft={draft} setDraft={setDraft} />
            : actions.includes("retry")
              ? <Blocked key={card.step} facts={facts} attempt={attempt} now={now} send={send} isSending={isSending} focus={query.get("focus")} />
              : <Completed facts={facts} send={send} isSending={isSending} />)}
          {tab === "events" && <><Timeline facts={facts} now={now} /><Events facts={facts} /></>}
          {tab === "summary" && <SummaryView facts={facts} />}
          {tab !== "decision" && tab !== "events" && tab !== "summary" && attempt !== undefined && (
            <>
              <div class="attempt">
                <AttemptHead step={steps[number - 1]} attempt={attempt} now={now} />
                {actions.includes("undo") && attempt.checkpoint !== undefined && (
                  <Confirmed
                    label="Undo to here" confirm="Undo" kind="quiet" isSending={isSending}
                    question={`The files become those after attempt ${attempt.number} at step ${number}; what is there now is kept.`}
                    onConfirm={() => void send({ action: "undo", to: `${number}-${attempt.number}` })}
                  />
                )}
              </div>
              <AttemptPart key={`${number}-${attempt.number}-${tab}`} id={card.id} tab={tab} step={number} attempt={attempt} version={facts.seen} now={now} of={query.get("of")} />
            </>
          )}
          {tab !== "decision" && tab !== "events" && tab !== "summary" && attempt === undefined && (
            <p class="faint">{attempts === undefined ? "Reading the attempts…" : steps.length === 0 ? "The record of this run cannot be read." : "This step has not begun."}</p>
          )}
        </div>
      </section>
    </main>
  );
}

/** The steps, which a narrow page folds behind the selected one. */
function Steps({ facts, selected, children }: { facts: RunFacts; selected: Step | undefined; children: ComponentChildren }) {
  const { card, graph, steps } = facts.run;
  const isNarrow = useIsNarrow();
  const fold = useRef<HTMLDetailsElement>(null);
  const chosen = (event: MouseEvent) => {
    if (!isNarrow || fold.current === null || !(event.target instanceof Element) || event.target.closest("button") === null) return;
    fold.current.open = false;
    fold.current.querySelector("summary")?.focus();
  };
  return (
    <nav class="steps" aria-label="Steps">
      <details ref={fold} open={!isNarrow} onClick={chosen}>
        <summary>
          <h2>{card.done} of {counted(card.steps, "step")} done</h2>
          {isNarrow && selected !== undefined && <span><Mark symbol={selected.symbol} /> <span dir="auto">Step {selected.number} of {steps.length}: {selected.name}</span></span>}
        </summary>
        {graph !== undefined && <StepGraph graph={graph} selected={selected?.number ?? 0} />}
        {children}
      </details>
    </nav>
  );
}

const NARROW = matchMedia("(max-width: 56rem)");

function useIsNarrow(): boolean {
  const [isNarrow, set] = useState(NARROW.matches);
  useEffect(() => {
    const changed = () => set(NARROW.matches);
    changed();
    NARROW.addEventListener("change", changed);
    return () => NARROW.removeEventListener("change", changed);
  }, []);
  return isNarrow;
}

const within = (number: number, last: number): number => Math.max(1, Math.min(last, number || 1));

interface StepProps {
  step: Step;
  isSelected: boolean;
  attempts: Attempt[] | undefined;
  attempt: Attempt | undefined;
  /** The tab that shows an attempt which is chosen. */
  next: Tab;
  reason: string | undefined;
}

function StepItem({ step, isSelected, attempts, attempt, next, reason }: StepProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isSelected) item.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  const took = between(step.started_at, step.completed_at);
  return (
    <li ref={item}>
      <button type="button" class="step" aria-current={isSelected ? "step" : undefined} onClick={() => choose({ step: String(step.number), attempt: "", tab: next })}>
        <Mark symbol={step.symbol} />
        <span class="name" dir="auto">{step.number}. {step.name}</span>
        <span class="faint">
          {step.status}{step.attempts > 0 && `, attempt ${step.attempts} of ${step.limit}`}{took !== undefined && `, ${duration(took)}`}
        </span>
        {step.fork !== undefined && <span class="faint">{step.fork}</span>}
        {reason !== undefined && <span class="bad" dir="auto">{reason}</span>}
      </button>
      {attempts !== undefined && attempts.length > 1 && (
        <ul class="attempts">
          {attempts.map((one) => (
            <li key={one.number}>
              <button type="button" aria-current={one.number === attempt?.number ? "true" : undefined} onClick={() => choose({ step: String(step.number), attempt: String(one.number), tab: next })}>
                <Mark symbol={symbolOf(one)} /> Attempt {one.number} <span class="faint">{one.result === "failed" ? one.reason : ""}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

const symbolOf = (attempt: Attempt): string => (attempt.result === "passed" ? "✓" : attempt.result === "failed" ? "✗" : "→");

function Tabs({ tabs, tab }: { tabs: readonly Tab[]; tab: Tab }) {
  const turn = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const next = tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    choose({ tab: next });
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Evidence" onKeyDown={turn}>
      {tabs.map((one) => (
        <button
          key={one} id={`tab-${one}`} type="button" role="tab" aria-selected={one === tab} aria-controls="panel" tabIndex={one === tab ? 0 : -1}
          onClick={() => choose({ tab: one, focus: "" })}
        >{capital(one)}</button>
      ))}
    </div>
  );
}

function AttemptHead({ step, attempt, now }: { step: Step | undefined; attempt: Attempt; now: number }) {
  const end = attempt.ended_at ?? new Date(now).toISOString();
  return (
    <p>
      <Mark symbol={symbolOf(attempt)} /> <strong dir="auto">Step {step?.number}, attempt {attempt.number}</strong>
      <span class="faint">
        {" "}{duration(between(attempt.started_at, end) ?? 0)}{attempt.agent !== undefined && ` · ${attempt.agent}`}{attempt.model !== undefined && ` · ${attempt.model}`}
        {attempt.tokens !== undefined && ` · ${tokens(attempt.tokens)} tokens`}{attempt.cost_usd !== undefined && ` · ${money(attempt.cost_usd)}`}{attempt.prices_as_of !== undefined && ` (prices of ${attempt.prices_as_of})`}
        {attempt.refused > 0 && ` · ${counted(attempt.refused, "refused call")}`}
      </span>
    </p>
  );
}

interface PartProps {
  id: string;
  tab: Exclude<Tab, "decision" | "events" | "summary">;
  step: number;
  attempt: Attempt;
  version: string;
  now: number;
  of: string | null;
}

function AttemptPart({ id, tab, step, attempt, version, now, of }: PartProps) {
  const name = `${step}-${attempt.number}`;
  const text = useFacts<TextLine[]>(tab === "log" || tab === "prompt" ? `/data/run/${id}/${tab}?attempt=${name}` : undefined, version);
  const scopes: Scopes = [
    [name, "This attempt", "in this attempt"],
    [String(step), "This step", "in this step"],
    ["unapproved", "Since the last approval", "since the last approval"],
    ["run", "The whole run", "since the run began"],
  ];
  const [scope, , what] = scopes.find(([scope]) => scope === of) ?? scopes[0] ?? [name, "", ""];
  const diff = useFacts<Diff>(tab === "diff" ? `/data/run/${id}/diff?of=${scope}` : undefined, version);
  switch (tab) {
    case "log":
      return <Log attempt={attempt} log={text} name={`${id}-${name}`} />;
    case "prompt":
      return text === undefined
        ? <p class="faint">Reading the prompt…</p>
        : text.length === 0 ? <p class="faint">No prompt is kept of this attempt.</p> : <pre class="wraps" tabIndex={0} aria-label="Prompt" dir="auto">{text.map((line) => line.text).join("\n")}</pre>;
    case "checks":
      return <Checks attempt={attempt} now={now} />;
    case "diff":
      return (
        <>
          <Scope scopes={scopes} scope={scope} />
          <DiffView key={scope} diff={diff} what={what} />
        </>
      );
  }
}

function Events({ facts }: { facts: RunFacts }) {
  return (
    <table class="events">
      <caption class="hidden">What happened in the run, oldest first</caption>
      <tbody>
        {facts.run.events.map((event, index) => {
          const day = moment(event.at);
          return <tr key={index}><td><time dateTime={event.at} title={day}>{isReport ? day : clock(event.at)}</time></td><td dir="auto">{event.text}</td></tr>;
        })}
      </tbody>
    </table>
  );
}

/** Leads back from a run. */
export function Back() {
  return <Link class="back" to="/">All runs</Link>;
}
