/** What an editor is told about a workflow file while somebody writes it. */

import type { Glue } from "../build/onloop.js";
import * as given from "./arguments.js";
import type { Edit } from "./documents.js";
import type { FileLink, Finding, Fold, Hover, Mend, NamedStep, Proposal, Rewrite, SymbolPart } from "./language_documents.js";

const encoder = new TextEncoder();

/** Calls the core; how is up to who has it. */
type Use = <T>(use: (core: Glue) => T) => T;

/**
 * The functions behind `onloop lsp`. Each takes the path and the whole text of a file, and offsets in
 * UTF-16 units from 0; what lies behind the end of the text is its end. They work on every text, with
 * errors or without; whether it is a workflow is for the caller to know, who has `classify`.
 */
export class Language {
  readonly #use: Use;

  /** @internal */
  constructor(use: Use) {
    this.#use = use;
  }

  /** What is wrong, as `lint` says it, with the other places that it is about. */
  findings(path: string, text: string): Finding[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_findings(...file))) as Finding[];
  }

  /** Changes that resolve the findings that touch a range. */
  mends(path: string, text: string, start: number, end: number): Mend[] {
    const range = [given.offset("start", start), given.offset("end", end)] as const;
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_mends(...file, ...range))) as Mend[];
  }

  /** At the header of a step: new steps beside it, that step in another place, steps numbered in their order. */
  rewrites(path: string, text: string, offset: number): Rewrite[] {
    const at = given.offset("offset", offset);
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_rewrites(...file, at))) as Rewrite[];
  }

  /** Frontmatter, steps, their fields and checks, as a tree. */
  symbols(path: string, text: string): SymbolPart[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_symbols(...file))) as SymbolPart[];
  }

  /** What can be folded. */
  folds(path: string, text: string): Fold[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_folds(...file))) as Fold[];
  }

  /** The kinds of tokens: words that editors share, such as `property`. */
  tokenKinds(): string[] {
    return JSON.parse(this.#use((core) => core.language_token_kinds())) as string[];
  }

  /**
   * The tokens that touch a range, in the form of the Language Server Protocol: five numbers each, which are
   * lines and UTF-16 units from the token before, the length, the index in `tokenKinds` and 0.
   */
  tokens(path: string, text: string, start = 0, end = 0xffff_ffff): Uint32Array {
    const range = [given.offset("start", start), given.offset("end", end)] as const;
    return this.#ask(path, text, (core, ...file) => core.language_tokens(...file, ...range));
  }

  /** What the field, the step or the mention of a step at an offset means. */
  hover(path: string, text: string, offset: number): Hover | undefined {
    const at = given.offset("offset", offset);
    return parsed(this.#ask(path, text, (core, ...file) => core.language_hover(...file, at)));
  }

  /** What can be written at an offset, the likeliest first. */
  proposals(path: string, text: string, offset: number): Proposal[] {
    const at = given.offset("offset", offset);
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_proposals(...file, at))) as Proposal[];
  }

  /** The edits that lay out the file without changing what it means. */
  layout(path: string, text: string): Edit[] {
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_layout(...file))) as Edit[];
  }

  /** The step whose number, title or mention is at an offset. */
  step(path: string, text: string, offset: number): NamedStep | undefined {
    const at = given.offset("offset", offset);
    return parsed(this.#ask(path, text, (core, ...file) => core.language_step(...file, at)));
  }

  /**
   * The edits that rename the step at an offset: its title, or its number, which is where it goes; the others
   * make room and every mention follows. Throws, with a sentence for people, where that cannot be.
   */
  rename(path: string, text: string, offset: number, name: string): Edit[] {
    const [at, to] = [given.offset("offset", offset), given.text("name", name)];
    return JSON.parse(this.#ask(path, text, (core, ...file) => core.language_rename(...file, at, to))) as Edit[];
  }

  /** Files that the workflow names. Whether they are there is not known. */
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
