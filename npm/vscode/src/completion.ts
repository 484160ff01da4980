/** What can be written where the cursor is, and what it means. */

import type { Field, Outline } from "onloop";
import { type Place, type Span, isInFence, placeAt } from "./place.js";

export interface Proposal {
  label: string;
  /** As a snippet: `$1` is where the cursor goes. */
  snippet: string;
  about: string;
  span: Span;
  /** Values can be chosen next. */
  goesOn: boolean;
}

/** Fields whose value is indented below them. */
const NESTED = new Set(["env", "assert"]);

export function complete(fields: Field[], text: string, outline: Outline, offset: number): Proposal[] {
  if (outline.frontmatter === null && outline.steps.length === 0 && text.trim().length < 20) {
    return [wholeFile(text)];
  }
  const place = placeAt(text, outline, offset);
  const proposals = place === undefined ? [] : fits(fields, place);
  const step = newStep(text, outline, offset);
  return step === undefined ? proposals : [...proposals, step];
}

/** What the field under the cursor is, as Markdown, and where its name stands. */
export function explain(
  fields: Field[],
  text: string,
  outline: Outline,
  offset: number,
): { markdown: string; span: Span } | undefined {
  const place = placeAt(text, outline, offset);
  if (place === undefined || place.at !== "name") return undefined;
  const field = allowed(fields, place).find(({ name }) => name === place.name.toLowerCase());
  return field && { markdown: `**${field.name}**\n\n${about(field)}`, span: place.span };
}

function fits(fields: Field[], place: Place): Proposal[] {
  const { at, span } = place;
  if (at === "name") {
    const free = allowed(fields, place).filter(({ name }) => !place.taken.includes(name));
    return free.map((field) => ({
      label: field.name,
      snippet: NESTED.has(field.name) ? `${field.name}:\n  $0` : `${field.name}: $0`,
      about: about(field),
      span,
      goesOn: field.values.length > 0,
    }));
  }
  const field = allowed(fields, place).find(({ name }) => name === at.valueOf);
  return (field?.values ?? []).map((value) => ({
    label: value.trim(),
    snippet: value,
    about: field === undefined ? "" : about(field),
    span,
    goesOn: false,
  }));
}

function allowed(fields: Field[], { section, type }: Place): Field[] {
  return fields.filter(
    (field) =>
      field.section === section &&
      (type === undefined || field.types.length === 0 || field.types.includes(type)),
  );
}

function about({ about, default: otherwise }: Field): string {
  return otherwise === "" ? about : `${about}\n\nLeft out: ${otherwise}`;
}

/** A step, on a line that has at most its beginning. */
function newStep(text: string, outline: Outline, offset: number): Proposal | undefined {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const before = text.slice(start, offset);
  const end = text.indexOf("\n", offset);
  const line = text.slice(start, end < 0 ? text.length : end);
  const { frontmatter } = outline;
  if (frontmatter === null || start <= frontmatter.end + 3) return undefined;
  if (!/^(- ?(\[[ x]?\]? ?)?|[sS]t?e?p?)?$/.test(before) || line.trim() !== before.trim()) return undefined;
  if (isInFence(text, frontmatter.end, offset)) return undefined;
  const number = outline.steps.filter(({ span }) => span.start < start).length + 1;
  return {
    label: `Step ${number}`,
    snippet: `- [ ] **Step ${number}: \${1:Name}**\naction: \${2:what to do}\nloop: \${3|false,until |}\nverify: \${4:command}\n$0`,
    about: "A step: what to do, whether it is repeated, and the command that proves it.",
    span: { start, end: offset },
    goesOn: false,
  };
}

function wholeFile(text: string): Proposal {
  const front = "---\nintent: ${1:what this builds}\nsuccess_criteria: ${2:how to know that it is done}\nrisk_level: ${3|low,medium,high|}\n---\n\n";
  const step = "- [ ] **Step 1: ${4:Name}**\naction: ${5:what to do}\nloop: false\nverify: ${6:command}\n$0";
  return {
    label: "workflow",
    snippet: front + step,
    about: "Frontmatter and a first step.",
    span: { start: 0, end: text.length },
    goesOn: false,
  };
}
