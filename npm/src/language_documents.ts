/** The results of `core.language`. */

import type { Diagnostic, Edit, Span } from "./documents.js";

/** A finding with details for editors. */
export interface Finding extends Diagnostic {
  /** The text has no effect; editors show it faded. */
  unnecessary: boolean;
  /** Related places. */
  related: (Span & { message: string })[];
}

/** A refactoring. */
export interface Rewrite {
  /** In the imperative, without a full stop. */
  title: string;
  /** In ascending order, without overlap, against the text that was given. */
  edits: Edit[];
}

/** A quick fix for a finding. */
export interface Mend extends Rewrite {
  /** The index of the finding in `findings`. */
  finding: number;
  /** Whether it is safe to apply without a person's choice. */
  is_safe: boolean;
}

/** A part of a file with a name. */
export interface SymbolPart {
  name: string;
  /** The beginning of its value; empty where the name says it all. */
  detail: string;
  kind: "frontmatter" | "step" | "field" | "check";
  span: Span;
  /** The selection when a person goes there, inside `span`. */
  selection: Span;
  children: SymbolPart[];
}

/** Lines that can be folded into their first. */
export interface Fold {
  kind: "frontmatter" | "step" | "lines" | "comment";
  span: Span;
}

/** What something means. */
export interface Hover {
  markdown: string;
  span: Span;
}

/** Something that can be written. */
export interface Proposal {
  label: string;
  kind: "field" | "value" | "template";
  /** What is written, in the form of snippets: `$0` and `${1:word}` are where the cursor goes. */
  snippet: string;
  /** The same as text. */
  plain: string;
  /** Markdown. */
  about: string;
  /** Once it is written there are proposals for what comes next. */
  goes_on: boolean;
  /** What it replaces. */
  span: Span;
}

/** A step, found at its header or where it is mentioned. */
export interface NamedStep {
  /** What was found: its number, its title, or the number that mentions it. */
  here: Span;
  /** Its number in its header. */
  number: Span;
  title: Span;
  /** Where text mentions it by its number. */
  mentions: Span[];
}

/** A file that is named. */
export interface FileLink {
  /** Relative to the root of the checkout and below it, with `/` between its parts. */
  path: string;
  span: Span;
}
