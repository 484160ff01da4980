// What agents cost and how many runs began: by day as charts, and in numbers.

import type { Cost, Day } from "./facts.js";
import { counted, money, tokens } from "./words.js";

/** Days that a chart shows, up to today. */
const DAYS = 30;
const DAY_MS = 86_400_000;

export function Costs({ days, agents, now }: { days: Day[]; agents: Cost[]; now: number }) {
  if (days.length === 0) return null;
  const known = new Map(days.map((day) => [day.name, day]));
  const shown = Array.from({ length: DAYS }, (_, index) => new Date(now - (DAYS - 1 - index) * DAY_MS).toISOString().slice(0, 10));
  const today = new Date(now).toISOString().slice(0, 10);
  const of = (value: (day: Day) => number) => shown.map((name): [string, number] => [name, value(known.get(name) ?? { ...NOTHING, name })]);
  return (
    <>
      <h2>Cost and runs</h2>
      <div class="charts">
        <Chart title="Cost by day" values={of((day) => day.cost_usd ?? 0)} words={money} />
        <Chart title="Runs by day" values={of((day) => day.runs)} words={(count) => counted(count, "run")} />
      </div>
      <details id="cost">
        <summary>Today: {costOf(known.get(today) ?? NOTHING, "cost ")} <span class="faint">· by day and by agent</span></summary>
        <div class="costs">
          <CostTable head="Day (UTC)" rows={days} />
          <CostTable head="Agent" rows={agents} />
        </div>
      </details>
    </>
  );
}

const NOTHING: Day = { name: "", runs: 0, turns: 0, unknown: 0, tokens: 0 };

/** Columns side by side; the numbers are in the table below. */
function Chart({ title, values, words }: { title: string; values: [string, number][]; words: (value: number) => string }) {
  const most = Math.max(...values.map(([, value]) => value));
  const sum = values.reduce((sum, [, value]) => sum + value, 0);
  const [first, last] = [values[0]?.[0], values.at(-1)?.[0]];
  if (sum === 0) return null;
  return (
    <figure class="chart">
      <figcaption>{title} <span class="faint">{words(sum)} in {values.length} days</span></figcaption>
      <svg viewBox={`0 0 ${values.length * 10} 50`} preserveAspectRatio="none" role="img" aria-label={`${title}: ${words(sum)} from ${first} to ${last}, at most ${words(most)} on a day`}>
        {values.map(([name, value], index) => value > 0 && (
          <rect key={name} x={index * 10 + 1} y={50 - Math.max(2, (48 * value) / most)} width="8" height={Math.max(2, (48 * value) / most)}>
            <title>{name}: {words(value)}</title>
          </rect>
        ))}
      </svg>
      <p class="faint ends"><span>{first}</span><span>at most {words(most)}</span><span>today</span></p>
    </figure>
  );
}

/** Unknown stays unknown, and is not nothing. */
function costOf({ cost_usd: cost, turns, unknown }: Cost, noun = ""): string {
  if (turns === 0) return "no agent turns";
  if (cost === undefined) return `${noun}unknown`;
  return unknown === 0 ? money(cost) : `${money(cost)}, and ${counted(unknown, "turn")} unknown`;
}

function CostTable({ head, rows }: { head: string; rows: (Cost | Day)[] }) {
  const most = Math.max(...rows.map((row) => row.cost_usd ?? 0));
  const hasRuns = rows.some((row) => "runs" in row);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{head}</th>{hasRuns && <th scope="col" class="number">Runs</th>}<th scope="col" class="number">Turns</th>
          <th scope="col" class="number">Tokens</th><th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, 31).map((row) => (
          <tr key={row.name}>
            <th scope="row">{row.name}</th>{hasRuns && <td class="number">{"runs" in row && row.runs}</td>}<td class="number">{row.turns}</td>
            <td class="number">{tokens(row.tokens)}</td>
            <td>{most > 0 && <meter max={most} value={row.cost_usd ?? 0} aria-hidden="true" />} {costOf(row)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
