/** Language features of workflow files, for editors. */

import type { Glue } from "../build/onloop.js";
import * as given from "./arguments.js";
import type { Edit } from "./documents.js";
import type { FileLink, Finding, Fold, Hover, NamedStep, Proposal, QuickFix, Rewrite, SymbolPart } from "./language_documents.js";

const encoder = new TextEncoder();

/** Calls the core. */
type Use = <T>(use: (core: Glue) => T) => T;

/**
 * The functions of `onloop lsp`. Each takes the path and the whole text of a file, and offsets in UTF-16
 * units from 0. Offsets behind the text mean its end. They work on every text; use `classify` to find
 * out whether a file is a workflow.
 */
export class Language {
  readonly #use: Use;

  /** @internal */
  constructor(use: Use) {
    this.#use = use;
  }

  /** The findings of `lint`, with related places. */
  findings(path: string, text: string): Finding[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_findings(...file))) as Finding[];
  }

  /** Quick fixes for the findings that touch a range. */
  quickFixes(path: string, text: string, start: number, end: number): QuickFix[] {
    const range = [given.offset("start", start), given.offset("end", end)] as const;
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_fixes(...file, ...range))) as QuickFix[];
  }

  /** Refactorings at the header of a step: insert a step, move it, renumber the steps. */
  rewrites(path: string, text: string, offset: number): Rewrite[] {
    const at = given.offset("offset", offset);
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_rewrites(...file, at))) as Rewrite[];
  }

  /** Frontmatter, steps, their fields and checks, as a tree. */
  symbols(path: string, text: string): SymbolPart[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_symbols(...file))) as SymbolPart[];
  }

  /** The ranges that an editor can fold. */
  folds(path: string, text: string): Fold[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_folds(...file))) as Fold[];
  }

  /** The kinds of tokens: words that editors share, such as `property`. */
  tokenKinds(): string[] {
    return JSON.parse(this.#use((core) => core.language_token_kinds())) as string[];
  }

  /**
   * The tokens that touch a range, in the form of the Language Server Protocol. Each has five numbers: lines
   * and UTF-16 units from the token before, the length, the index in `tokenKinds`, and 0.
   */
  tokens(path: string, text: string, start = 0, end = 0xffff_ffff): Uint32Array {
    const range = [given.offset("start", start), given.offset("end", end)] as const;
    return this.#ask(path, text, (core, ...file) => core.language_tokens(...file, ...range));
  }

  /** The explanation of the field, step or mention of a step at an offset. */
  hover(path: string, text: string, offset: number): Hover | undefined {
    const at = given.offset("offset", offset);
    return parsed(this.#ask(path, text, (core, ...file) => core.language_hover(...file, at)));
  }

  /** The completions at an offset, the likeliest first. */
  proposals(path: string, text: string, offset: number): Proposal[] {
    const at = given.offset("offset", offset);
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_proposals(...file, at))) as Proposal[];
  }

  /** The edits that format the file without a change of its meaning. */
  layout(path: string, text: string): Edit[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_layout(...file))) as Edit[];
  }

  /** The step whose number, title or mention is at an offset. */
  step(path: string, text: string, offset: number): NamedStep | undefined {
    const at = given.offset("offset", offset);
    return parsed(this.#ask(path, text, (core, ...file) => core.language_step(...file, at)));
  }

  /**
   * The edits that rename the step at an offset. A new number moves the step and renumbers the others.
   * Every mention changes as well. Throws a message for people if the name is not possible.
   */
  rename(path: string, text: string, offset: number, name: string): Edit[] {
    const [at, to] = [given.offset("offset", offset), given.text("name", name)];
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_rename(...file, at, to))) as Edit[];
  }

  /** Files that the workflow names, which may not exist. */
  links(path: string, text: string): FileLink[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_links(...file))) as FileLink[];
  }

  #ask<T>(path: string, text: string, ask: (core: Glue, path: string, text: Uint8Array) => T): T {
    const name = given.text("path", path);
    const bytes = encoder.encode(given.text("text", text));
    return this.#use((core) => ask(core, name, bytes));
  }
}

function parsed<T>(json: string | undefined): T | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as T);
}
