/** The live status line of a running process: its label, its running time and its activity. */

const TICK_MS = 100;
/** The spinner with a blank, and the last column, where a terminal may wrap. */
const TAKEN_COLUMNS = 3;
/** Bytes of an output chunk that are searched for its last line. */
const LAST_LINE_BYTES = 1024;
const SPINNER = "⠁⠂⠄⡀⢀⠠⠐⠈";
const ERASED = "\r\x1b[2K";

/** Separates the parts of an activity. */
const SEPARATOR = " · ";
/** Most columns of a figure at the end of an activity, such as `18k tokens` or `$0.42`. */
const FIGURE_COLUMNS = 14;
const FIGURES = 2;

/** Escape sequences, and every control character. */
const CONTROLS = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x1f\x7f-\x9f]/g;
/** Characters that a terminal draws two columns wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Characters that combine with the one before. */
const COMBINING = /[\p{Mn}\p{Me}\p{Cf}]/u;
/** Turns the character before into an emoji, which is one column wider. */
const EMOJI_SELECTOR = "\ufe0f";

/** A line on standard error that is redrawn in place while a process runs. */
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

  /** Draws the line until `hide`. */
  show(activity?: string): void {
    if (activity !== undefined) this.#activity = oneLine(activity);
    this.#timer ??= setInterval(() => this.#draw(), TICK_MS).unref();
  }

  /** Takes the last line of the output as activity. */
  output(bytes: Uint8Array): void {
    const text = Buffer.from(bytes.subarray(-LAST_LINE_BYTES)).toString();
    const lines = text.split(/[\r\n]/).map((line) => line.replace(CONTROLS, "").trim());
    this.#activity = lines.filter((line) => line !== "").at(-1) ?? this.#activity;
  }

  /** Erases the line. */
  hide(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#isShown) process.stderr.write(ERASED);
    this.#isShown = false;
  }

  #draw(): void {
    const elapsedMs = performance.now() - this.#started;
    // A fast command shows no line.
    if (elapsedMs <= 2 * TICK_MS) return;
    // Read each time, because the window may change its width.
    const columns = Math.max(0, (process.stderr.columns || 80) - TAKEN_COLUMNS);
    const [label, rest] = fit(this.#label, span(elapsedMs), this.#activity, columns);
    const spinner = SPINNER[this.#ticks++ % SPINNER.length] ?? "";
    process.stderr.write(`${ERASED}\x1b[36m${spinner}\x1b[0m ${label} \x1b[2m${rest}\x1b[0m`);
    this.#isShown = true;
  }
}

/**
 * The label and the text behind it, in at most so many columns with the blank between them. The label is
 * cut first, then the activity, and last the figures at its end.
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
  const shortLabel = cut(label, Math.max(room - width(activity), Math.floor(room / 3)));
  const shortActivity = cutKeepingFigures(activity, Math.max(0, room - width(shortLabel)));
  const rest = shortActivity === "" ? elapsed : `${elapsed} ${shortActivity}`;
  return [shortLabel, cut(rest, Math.max(0, columns - width(shortLabel) - 1))];
}

/** Cuts the activity before the figures at its end. */
function cutKeepingFigures(activity: string, columns: number): string {
  let head = activity;
  for (let count = 0; count < FIGURES; count += 1) {
    const at = head.lastIndexOf(SEPARATOR);
    if (at < 0 || width(head.slice(at + SEPARATOR.length)) > FIGURE_COLUMNS) break;
    head = head.slice(0, at);
  }
  const figures = activity.slice(head.length);
  const room = columns - width(figures);
  // Fewer than 8 columns of an activity are not readable.
  const fits = room >= 0 && (room >= 8 || room >= width(head));
  return fits ? `${cut(head, room)}${figures}` : cut(activity, columns);
}

/** The part of `text` that fits, with an ellipsis if it was cut. */
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

/** Columns of `text` in a terminal. */
function width(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  if (character === EMOJI_SELECTOR) return 1;
  if (COMBINING.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

function oneLine(text: string): string {
  return text.replace(CONTROLS, " ").replace(/\s+/g, " ").trim();
}

/** A duration, rounded up to seconds, without zeros at its ends: `3 min 12 s`. */
export function span(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const parts = [`${Math.floor(seconds / 3600)} h`, `${Math.floor(seconds / 60) % 60} min`, `${seconds % 60} s`];
  while (parts.length > 1 && parts[0]?.startsWith("0 ")) parts.shift();
  while (parts.length > 1 && parts.at(-1)?.startsWith("0 ")) parts.pop();
  return parts.join(" ");
}
