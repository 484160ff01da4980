// What a person can decide about a run, beside what there is to know before.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { CheckLine, Checks } from "./checks.js";
import { Files, Scope, Stat, type Scopes } from "./diff.js";
import type { Attempt, Diff, RunFacts } from "./facts.js";
import type { Said } from "./live.js";
import { post, useFacts } from "./live.js";
import { Markdown } from "./markdown.js";
import { Mark, useCalm } from "./parts.js";

export type Send = (fields: Record<string, string>) => Promise<Said | undefined>;

/** Sends an action on a run. A click does nothing just after what it would be about has changed. */
export function useSend(facts: RunFacts, look: () => void): { send: Send; said: Said | undefined; isSending: boolean } {
  const [said, setSaid] = useState<Said>();
  const [isSending, setSending] = useState(false);
  const { card, seen, actions } = facts.run;
  const isCalm = useCalm(`${card.id} ${actions.includes("stop") ? "" : seen} ${actions.join()}`);
  const send = async (fields: Record<string, string>) => {
    if (!isCalm() || isSending) return undefined;
    setSending(true);
    const answer = await post(`/run/${card.id}`, facts.token ?? "", { seen, ...fields });
    setSending(false);
    setSaid(answer);
    look();
    return answer;
  };
  return { send, said, isSending };
}

interface GateProps extends ActionProps {
  now: number;
  focus: string | null;
  /** The change whose files are shown. */
  of: string | null;
  draft: string;
  setDraft: (draft: string) => void;
}

/** The question and the evidence, the buttons beside them, then every changed line. */
export function Gate({ facts, now, send, isSending, focus, of, draft, setDraft }: GateProps) {
  const { card, choice, facts: known, seen, steps } = facts.run;
  const number = String(choice?.step);
  // Of the first step after the beginning or an approval, both are the same.
  const hasOthers = Number(number) > (known?.since_step ?? 0) + 1;
  const change = (of: string) => `/data/run/${card.id}/diff?of=${of}`;
  const diff = useFacts<Diff>(choice?.is_gate === true ? change("unapproved") : undefined, seen);
  const own = useFacts<Diff>(choice?.is_gate === true && hasOthers ? change(number) : undefined, seen);
  const [name, setName] = useState("");
  const approve = useRef<HTMLButtonElement>(null);
  const note = useRef<HTMLTextAreaElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const isReady = diff !== undefined;
  useEffect(() => {
    if (!isReady) return;
    if (focus === "approve") (field.current ?? approve.current)?.focus();
    if (focus === "redo") note.current?.focus();
  }, [focus, isReady]);
  if (choice === undefined) return null;
  const step = steps.find(({ number }) => number === choice.step);
  if (!choice.is_gate || step === undefined) {
    return <section class="decision"><h2>{capital(choice.question)}</h2><p>Answer this in a terminal of that machine.</p><Advice advice={facts.advice} /></section>;
  }
  const since = known?.since_step === undefined ? "since the run began" : `since you approved step ${known.since_step}`;
  const scopes: Scopes = [["unapproved", known?.since_step === undefined ? "The whole run" : "Since the last approval", since], [number, "This step", "in this step"]];
  const shown = hasOthers && of === number ? own : diff;
  return (
    <section class="decision" aria-labelledby="asked">
      <div class="ask">
        <div>
          <h2 id="asked" dir="auto">Step {number} of {steps.length}: {step.name}</h2>
          {known !== undefined && (
            <>
              <p class="faint">Risk: {known.risk}</p>
              <Markdown text={known.action} />
              <h3>Checks</h3>
              {known.checks.length === 0
                ? <p class="wait">No check verifies this step.</p>
                : <ul class="checks">{known.checks.map((check) => <li key={check.what}><CheckLine check={check} now={now} /></li>)}</ul>}
              {known.earlier.slice(0, 50).map((warning) => <p key={warning} class="wait">⚠ {warning}</p>)}
              {known.earlier.length > 50 && <p>{known.earlier.length - 50} more: <code>onloop report</code></p>}
              {known.review !== undefined && <><h3>Review: {known.review.verdict}</h3><pre class="wraps" tabIndex={0} aria-label="Findings of the review">{known.review.findings}</pre></>}
              <h3>Changes</h3>
              {known.changes_unknown === undefined
                ? <><Stat diff={diff} what={since} />{hasOthers && <Stat diff={own} what="in this step" />}</>
                : <p class="bad">Changed files are not known: {known.changes_unknown}</p>}
            </>
          )}
        </div>
        <div class="answers">
          <form class="decide" onSubmit={(event) => { event.preventDefault(); void send({ action: "approve", step: number, name }); }}>
            {choice.type_name !== undefined && (
              <>
                <label for="name">The risk is high. To approve, type the name of the step: <code>{choice.type_name}</code></label>
                <input id="name" ref={field} value={name} onInput={(event) => setName(event.currentTarget.value)} required autocomplete="off" autocapitalize="off" spellcheck={false} />
              </>
            )}
            <button ref={approve} class="main" disabled={!isReady || isSending}>Approve step {step.number}</button>
          </form>
          <form class="decide" onSubmit={(event) => { event.preventDefault(); void send({ action: "redo", step: number, reason: draft }).then((answer) => answer?.isDone === true && setDraft("")); }}>
            <label for="reason">What the agent should do instead</label>
            <textarea id="reason" ref={note} rows={3} maxLength={4000} value={draft} onInput={(event) => setDraft(event.currentTarget.value)} required />
            <p class="choices">
              <button disabled={isSending}>Request changes</button>
              <Confirmed label="Reject and end the run" question="The run ends; its work is kept." confirm="Reject" isSending={isSending} onConfirm={() => void send({ action: "reject", step: number })} />
            </p>
          </form>
        </div>
        {known !== undefined && known.said !== "" && <div><h3>The agent said at the end</h3><pre class="wraps" tabIndex={0} aria-label="The end of what the agent said">{known.said}</pre></div>}
      </div>
      {known?.changes_unknown === undefined && (
        <>
          {hasOthers && <Scope scopes={scopes} scope={of === number ? number : "unapproved"} />}
          <Files key={of} diff={shown} />
        </>
      )}
    </section>
  );
}

/** The commands that continue the run in a terminal. */
export function Advice({ advice }: { advice: string | undefined }) {
  if (advice === undefined) return null;
  return <details class="advice"><summary>In a terminal</summary><pre tabIndex={0} aria-label="Commands">{advice}</pre></details>;
}

interface ConfirmedProps {
  label: string;
  question: ComponentChildren;
  confirm: string;
  isSending: boolean;
  onConfirm: () => void;
  kind?: string;
}

/** A button that asks once more, in its place. */
export function Confirmed({ label, question, confirm, isSending, onConfirm, kind = "no" }: ConfirmedProps) {
  const [isOpen, open] = useState(false);
  if (!isOpen) return <button type="button" class={kind} onClick={() => open(true)}>{label}</button>;
  return (
    <span class="confirm" role="group" aria-label={label}>
      <span>{question}</span>
      <button type="button" class={kind} disabled={isSending} onClick={() => { open(false); onConfirm(); }}>{confirm}</button>
      <button type="button" class="quiet" onClick={() => open(false)}>Cancel</button>
    </span>
  );
}

/** The buttons that need no evidence. */
export function Actions({ facts, send, isSending }: ActionProps) {
  const can = (action: string) => facts.run.actions.includes(action);
  if (can("stop")) {
    return <p class="choices"><Confirmed label="Stop" confirm="Stop" question="The run is interrupted, and can be resumed." isSending={isSending} onConfirm={() => void send({ action: "stop" })} /></p>;
  }
  return can("resume") && !can("retry")
    ? <p class="choices"><button type="button" class="main" disabled={isSending} onClick={() => void send({ action: "resume" })}>Resume</button></p>
    : null;
}

interface ActionProps {
  facts: RunFacts;
  send: Send;
  isSending: boolean;
}

/** Whether a person can decide something about a run for which they should look at what it did. */
export const hasDecision = ({ run }: RunFacts): boolean => run.choice !== undefined || ["retry", "merge"].some((action) => run.actions.includes(action));

/** A blocked step: why, and then a note for another attempt. */
export function Blocked({ facts, attempt, now, send, isSending, focus }: ActionProps & { attempt: Attempt | undefined; now: number; focus: string | null }) {
  const { card, actions } = facts.run;
  const [note, setNote] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (focus !== null) field.current?.focus();
  }, [focus]);
  return (
    <section class="decision" aria-labelledby="asked">
      <div class="ask">
        <div>
          <h2 id="asked">Retry step {card.step}</h2>
          {attempt !== undefined && <Checks attempt={attempt} now={now} />}
        </div>
        <form class="answers decide" onSubmit={(event) => { event.preventDefault(); void send({ action: "retry", step: String(card.step), reason: note }); }}>
          <label for="note">Note for the next attempt at step {card.step}</label>
          <textarea id="note" ref={field} rows={3} maxLength={4000} required value={note} onInput={(event) => setNote(event.currentTarget.value)} />
          <p class="choices">
            <button class="main" disabled={isSending}>Retry with this note</button>
            {actions.includes("resume") && <button type="button" disabled={isSending} onClick={() => void send({ action: "resume" })}>Verify again and continue</button>}
          </p>
        </form>
      </div>
      <Advice advice={facts.advice} />
    </section>
  );
}

/** A completed run: the size of its change, what becomes of it, and every changed line. */
export function Completed({ facts, send, isSending }: ActionProps) {
  const { card, seen, steps } = facts.run;
  const diff = useFacts<Diff>(`/data/run/${card.id}/diff?of=run`, seen);
  const unchecked = steps.filter(({ symbol }) => symbol !== "✓");
  const asked = (action: string, label: string, question: ComponentChildren, kind: string) =>
    <Confirmed label={label} question={question} confirm={label} kind={kind} isSending={isSending || diff === undefined} onConfirm={() => void send({ action })} />;
  return (
    <section class="decision" aria-labelledby="asked">
      <h2 id="asked">Finish the run</h2>
      {unchecked.length > 0 && <ul class="checks">{unchecked.map((step) => <li key={step.number}><Mark symbol={step.symbol} /> <span dir="auto">{step.number}. {step.name}</span> <span class="faint">{step.status}</span></li>)}</ul>}
      <Stat diff={diff} what="since the run began" />
      <div class="choices">
        {asked("merge", "Merge", <>Merge <code>{card.branch}</code>, then remove it and its worktree.</>, "main")}
        {asked("pr", "Pull request", <>Push <code>{card.branch}</code> and open a pull request.</>, "")}
        {asked("discard", "Discard", <>Remove <code>{card.branch}</code> and its worktree.</>, "no")}
      </div>
      <Files diff={diff} />
    </section>
  );
}

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

