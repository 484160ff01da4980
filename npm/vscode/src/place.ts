/** Where in a workflow file a cursor is, as far as completion and hover need to know. */

import type { Outline } from "onloop";

/** A part of a text, by offsets. */
export interface Span {
  start: number;
  end: number;
}

/** The fields that may stand where the cursor is, and what is written there. */
export interface Place {
  section: "frontmatter" | "step" | "check" | "assert";
  /** The `type` of the check around the cursor. */
  type: string | undefined;
  /** Names that the other lines beside the cursor's have. */
  taken: string[];
  /** The cursor is in a name, or behind the colon of this one. */
  at: "name" | { valueOf: string };
  /** The name on the cursor's line; empty where there is none yet. */
  name: string;
  /** What is written there so far, to be replaced. */
  span: Span;
}

interface Line {
  start: number;
  text: string;
  /** Column of its first character, behind the dash of a list item. */
  column: number;
  isItem: boolean;
  isBlank: boolean;
  /** Name before the colon. */
  key: string | undefined;
  /** Column behind the colon. */
  afterKey: number;
}

/** The place of `offset`; nothing where no field can stand. */
export function placeAt(text: string, outline: Outline, offset: number): Place | undefined {
  const { frontmatter } = outline;
  if (frontmatter !== null && offset >= frontmatter.start && offset <= frontmatter.end) {
    const lines = linesOf(text, frontmatter.start, frontmatter.end);
    const line = lines.findLast((line) => line.start <= offset);
    if (line === undefined || line.column > 0) return undefined;
    return written("frontmatter", undefined, line, others(lines, line), offset);
  }
  const step = outline.steps.find(({ span }) => offset > span.start && offset <= span.end);
  return step && inStep(linesOf(text, step.span.start, step.span.end).slice(1), offset);
}

function inStep(lines: Line[], offset: number): Place | undefined {
  const at = lines.findLastIndex((line) => line.start <= offset);
  const line = lines[at];
  if (line === undefined || isFenced(lines.slice(0, at))) return undefined;
  const parents = parentsOf(lines, at);
  const [verify, assert, ...deeper] = parents.map(({ key }) => key);
  if (verify === undefined) {
    const siblings = lines.filter(({ column }) => column === line.column);
    return written("step", undefined, line, others(siblings, line), offset);
  }
  // What has text behind its colon has no fields below it.
  const leads = parents.every((parent) => parent.text.slice(parent.afterKey).trim() === "");
  if (verify !== "verify" || !leads || deeper.length > 0) return undefined;
  const siblings = siblingsOf(lines, at);
  if (assert === undefined) {
    const type = siblings.find(({ key }) => key === "type");
    const word = type && type.text.slice(type.afterKey).trim();
    return written("check", word, line, others(siblings, line), offset);
  }
  return assert === "assert" ? written("assert", undefined, line, others(siblings, line), offset) : undefined;
}

function written(
  section: Place["section"],
  type: string | undefined,
  line: Line,
  taken: string[],
  offset: number,
): Place | undefined {
  const column = offset - line.start;
  const base = { section, type: type === "" ? undefined : type, taken };
  if (line.key !== undefined && column >= line.afterKey) {
    const from = line.afterKey + (/^[ \t]*/.exec(line.text.slice(line.afterKey))?.[0].length ?? 0);
    const span = { start: line.start + Math.min(from, column), end: line.start + Math.max(from, line.text.length) };
    return { ...base, at: { valueOf: line.key }, name: line.key, span };
  }
  if (column < line.column) return undefined;
  const name = /^\w*/.exec(line.text.slice(line.column))?.[0] ?? "";
  // A dash, a heading or prose is being written.
  if (column > line.column + name.length) return undefined;
  const start = line.start + line.column;
  return { ...base, at: "name", name, span: { start, end: start + name.length } };
}

/** The lines with a name that are less and less indented, the outermost first. */
function parentsOf(lines: Line[], at: number): Line[] {
  const parents: Line[] = [];
  let { column } = lines[at]!;
  for (const line of lines.slice(0, at).reverse()) {
    if (line.isBlank || line.column >= column) continue;
    column = line.column;
    parents.unshift(line);
  }
  return parents;
}

/** The lines of the same object: at the same column, up to the item's dash and the next one. */
function siblingsOf(lines: Line[], at: number): Line[] {
  const { column } = lines[at]!;
  const isOutside = (line: Line): boolean => !line.isBlank && line.column < column;
  let first = at;
  while (!lines[first]!.isItem && first > 0 && !isOutside(lines[first - 1]!)) first -= 1;
  let end = at + 1;
  while (end < lines.length && !isOutside(lines[end]!) && !lines[end]!.isItem) end += 1;
  return lines.slice(first, end).filter((line) => line.column === column);
}

function others(lines: Line[], line: Line): string[] {
  return lines.flatMap(({ start, key }) => (start === line.start || key === undefined ? [] : [key]));
}

/** Whether the lines before `offset` have opened a fenced block that is still open there. */
export function isInFence(text: string, from: number, offset: number): boolean {
  return isFenced(linesOf(text, from, offset).slice(0, -1));
}

function isFenced(lines: Line[]): boolean {
  let fence: string | undefined;
  for (const { text } of lines) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(text)?.[1];
    if (mark === undefined) continue;
    if (fence === undefined) fence = mark;
    else if (mark.startsWith(fence)) fence = undefined;
  }
  return fence !== undefined;
}

function linesOf(text: string, from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (let start = from; start <= to; ) {
    const end = text.indexOf("\n", start);
    const stop = end < 0 || end > to ? to : end;
    lines.push(lineOf(start, text.slice(start, stop).replace(/\r$/, "")));
    start = stop + 1;
  }
  return lines;
}

function lineOf(start: number, text: string): Line {
  const [, blanks = "", dash = "", rest = ""] = /^([ \t]*)((?:-[ \t]+)?)(.*)$/.exec(text) ?? [];
  const column = blanks.length + dash.length;
  const key = /^(\w+):(?=[ \t]|$)/.exec(rest)?.[1];
  return {
    start,
    text,
    column,
    isItem: dash !== "",
    isBlank: rest === "" && dash === "",
    key: key?.toLowerCase(),
    afterKey: key === undefined ? 0 : column + key.length + 1,
  };
}
