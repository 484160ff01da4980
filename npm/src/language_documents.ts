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
  /** Edits of the given text, in ascending order and without overlap. */
  edits: Edit[];
}

/** A quick fix for a finding. */
export interface QuickFix extends Rewrite {
  /** The index of the finding in `findings`. */
  finding: number;
  /** Whether it is safe to apply without a person's choice. */
  is_safe: boolean;
}

/** A part of a file with a name. */
export interface SymbolPart {
  name: string;
  /** The beginning of its value; may be empty. */
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

/** An explanation. */
export interface Hover {
  markdown: string;
  span: Span;
}

/** A completion. */
export interface Proposal {
  label: string;
  kind: "field" | "value" | "template";
  /** The inserted text as a snippet, with `$0` and `${1:word}` for the cursor. */
  snippet: string;
  /** The same as text. */
  plain: string;
  /** Markdown. */
  about: string;
  /** Whether there are further proposals after it. */
  goes_on: boolean;
  /** The replaced text. */
  span: Span;
}

/** A step, found at its header or at a mention. */
export interface NamedStep {
  /** The place that was found: its number, its title, or a mention. */
  here: Span;
  /** Its number in its header. */
  number: Span;
  title: Span;
  /** The places that mention its number. */
  mentions: Span[];
}

/** A file that the workflow names. */
export interface FileLink {
  /** Relative to the root of the checkout and below it, with `/` between its parts. */
  path: string;
  span: Span;
}
