// The page of `onloop web`, and of a report.

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Board, Common, RunFacts } from "./facts.js";
import { areKeysOn, setKeys, useKeys } from "./keys.js";
import { List } from "./list.js";
import { useLive } from "./live.js";
import { Ago, Link } from "./parts.js";
import { usePlace } from "./place.js";
import { isReport } from "./report_source.js";
import { Back, RunView } from "./run.js";
import { source } from "./source.js";

function App() {
  const { run, query } = usePlace();
  return run === undefined ? <Everything query={query} /> : <OneRun key={run} run={run} query={query} />;
}

function Everything({ query }: { query: URLSearchParams }) {
  const { facts, status, look } = useLive<Board>("/data", undefined);
  const board = facts?.board;
  const count = board === undefined ? 0 : board.calls.length + board.runs.filter((run) => run.state === "waits").length;
  useTitle(count === 0 ? "onloop" : `(${count}) onloop`);
  return <Frame facts={facts} status={status}>{facts !== undefined && <List facts={facts} query={query} look={look} />}</Frame>;
}

function OneRun({ run, query }: { run: string; query: URLSearchParams }) {
  const { facts, status, look } = useLive<RunFacts>(`/data/run/${run}`, run);
  const card = facts?.run.card;
  useTitle(card === undefined ? "onloop" : `${card.intent === "" ? card.id : card.intent.slice(0, 60)} – onloop`);
  return (
    <Frame facts={facts} status={status} isRun>
      {facts !== undefined && <RunView facts={facts} query={query} look={look} />}
    </Frame>
  );
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}

interface FrameProps {
  facts: Common | undefined;
  status: string;
  isRun?: boolean;
  children: preact.ComponentChildren;
}

function Frame({ facts, status, isRun = false, children }: FrameProps) {
  const help = useRef<HTMLDialogElement>(null);
  useKeys({ "?": () => help.current?.showModal() });
  return (
    <>
      <header class="top">
        {isReport ? <strong>onloop</strong> : <nav aria-label="Pages"><Link class="home" to="/">onloop</Link>{isRun && <Back />}</nav>}
        {isReport
          ? facts !== undefined && <p class="faint">Report, <Ago at={facts.now} now={0} /></p>
          : <p id="live" class={status === "Live" ? "faint" : "wait"} role="status">{status}</p>}
        <button type="button" class="quiet" aria-label="Keyboard shortcuts" onClick={() => help.current?.showModal()}>?</button>
        {facts?.out !== undefined && source.start === undefined && (
          <form method="post" action={`${source.root}/out`}>
            <input type="hidden" name="form" value={facts.out} />
            <button class="quiet">Sign out</button>
          </form>
        )}
      </header>
      {children ?? null}
      {facts === undefined && <main id="main"><p class="faint">{status === "" ? "Reading…" : status}</p></main>}
      <Help dialog={help} />
    </>
  );
}

const KEYS: [string, string, inReport?: true][] = [
  ["j, k", "The next or the previous run or step", true],
  ["o", "Open the selected run"],
  ["a", "Go to the approval"],
  ["r", "Go to the request for changes"],
  ["/", "Search"],
  ["1 to 7", "The tabs of a run", true],
  ["u", "Back to all runs"],
  ["?", "This list", true],
];

function Help({ dialog }: { dialog: { current: HTMLDialogElement | null } }) {
  const [isOn, setOn] = useState(areKeysOn);
  const toggle = (on: boolean) => {
    setKeys(on);
    setOn(on);
  };
  return (
    <dialog ref={dialog} aria-labelledby="keys">
      <h2 id="keys">Keyboard shortcuts</h2>
      <dl class="facts">{KEYS.filter(([, , inReport]) => !isReport || inReport).map(([key, words]) => [<dt key={key}><kbd>{key}</kbd></dt>, <dd key={words}>{words}</dd>])}</dl>
      <label><input type="checkbox" checked={isOn} onChange={(event) => toggle(event.currentTarget.checked)} /> Use these keys</label>
      <form method="dialog"><button class="main">Close</button></form>
    </dialog>
  );
}

const app = document.getElementById("app");
if (app !== null) render(<App />, app);
