/** The live status line of a running process: its name, how long it has run, what it does. */

/** Smooth enough for an eye, cheap enough for a laptop. */
const TICK_MS = 100;
/** The spinner and the blank behind it, and the last column: a terminal that writes there may go on in the next line. */
const TAKEN_COLUMNS = 3;
/** Bytes of an output chunk that are searched for its last line. */
const LAST_LINE_BYTES = 1024;
const SPINNER = "⠁⠂⠄⡀⢀⠠⠐⠈";
const ERASED = "\r\x1b[2K";

/** Between the parts of an activity. */
const BETWEEN = " · ";
/** Columns of a part of an activity that is kept when the rest is cut: `18k tokens`, `$0.42`. */
const SHORT_COLUMNS = 14;
/** How many of these there are. */
const SHORT_PARTS = 2;

/** Escape sequences, and every control character. */
const CONTROLS = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x1f\x7f-\x9f]/g;
/** Characters that a terminal draws two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Characters that a terminal draws onto the one before. */
const NARROW = /[\p{Mn}\p{Me}\p{Cf}]/u;
/** Makes a picture of the character before, which then takes one column more. */
const PICTURE = "\ufe0f";

/** A line on standard error that is redrawn in place while a process is followed. */
export class StatusLine {
  readonly #label: string;
  readonly #started: number;
  #activity = "";
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  #isShown = false;

  constructor(label: string, started: number) {
    this.#label = oneLine(label);
    this.#started = started;
  }

  /** Draws the line until it is hidden again. */
  show(activity?: string): void {
    if (activity !== undefined) this.#activity = oneLine(activity);
    this.#timer ??= setInterval(() => this.#draw(), TICK_MS).unref();
  }

  /** Takes note of what the process has written. */
  output(bytes: Uint8Array): void {
    const text = Buffer.from(bytes.subarray(-LAST_LINE_BYTES)).toString();
    const lines = text.split(/[\r\n]/).map((line) => line.replace(CONTROLS, "").trim());
    this.#activity = lines.filter((line) => line !== "").at(-1) ?? this.#activity;
  }

  /** Leaves the terminal as it was. */
  hide(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isShown) process.stderr.write(ERASED);
    this.#isShown = false;
  }

  #draw(): void {
    const elapsedMs = performance.now() - this.#started;
    // The first moments stay silent: a line that flashes up for a fast command only disturbs.
    if (elapsedMs <= 2 * TICK_MS) return;
    // A window may have another width by now.
    const columns = Math.max(0, (process.stderr.columns || 80) - TAKEN_COLUMNS);
    const [label, rest] = fit(this.#label, span(elapsedMs), this.#activity, columns);
    const sign = SPINNER[this.#ticks++ % SPINNER.length] ?? "";
    process.stderr.write(`${ERASED}\x1b[36m${sign}\x1b[0m ${label} \x1b[2m${rest}\x1b[0m`);
    this.#isShown = true;
  }
}

/**
 * The label, and what stands behind it and a blank, in at most so many columns. What is being done
 * is cut before how much it has used, and the label gives way to both.
 */
export function fit(
  label: string,
  elapsed: string,
  activity: string,
  columns: number,
): [string, string] {
  const beside = width(elapsed) + 1 + (activity === "" ? 0 : 1);
  const room = Math.max(0, columns - beside);
  // An activity gets two thirds, or what the label leaves.
  const named = cut(label, Math.max(room - width(activity), Math.floor(room / 3)));
  const doing = cutBeforeUsed(activity, Math.max(0, room - width(named)));
  const rest = doing === "" ? elapsed : `${elapsed} ${doing}`;
  return [named, cut(rest, Math.max(0, columns - width(named) - 1))];
}

/** Cuts what is done before what it has used. */
function cutBeforeUsed(activity: string, columns: number): string {
  let head = activity;
  for (let count = 0; count < SHORT_PARTS; count += 1) {
    const at = head.lastIndexOf(BETWEEN);
    if (at < 0 || width(head.slice(at + BETWEEN.length)) > SHORT_COLUMNS) break;
    head = head.slice(0, at);
  }
  const used = activity.slice(head.length);
  const room = columns - width(used);
  // Of a few columns nobody learns anything.
  const says = room >= 0 && (room >= 8 || room >= width(head));
  return says ? `${cut(head, room)}${used}` : cut(activity, columns);
}

/** As much of `text` as fits, with a sign where something was cut. */
function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  if (columns === 0) return "";
  let kept = "";
  let used = 0;
  for (const character of text) {
    used += widthOf(character);
    if (used > columns - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** Columns of `text` in a terminal that draws each character by itself. */
function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  if (character === PICTURE) return 1;
  if (NARROW.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

function oneLine(text: string): string {
  return text.replace(CONTROLS, " ").replace(/\s+/g, " ").trim();
}

/** A time, rounded up to seconds, without parts that are zero at its end: `3m 12s`. */
export function span(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const parts = [`${Math.floor(seconds / 3600)}h`, `${Math.floor(seconds / 60) % 60}m`, `${seconds % 60}s`];
  while (parts.length > 1 && parts[0]?.startsWith("0")) parts.shift();
  while (parts.length > 1 && parts.at(-1)?.startsWith("0")) parts.pop();
  return parts.join(" ");
}
