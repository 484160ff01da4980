// Colors for the words of a program: comments, strings, numbers and keywords of the families of languages
// that most repositories have. A grammar for each language would be larger than the rest of the page.

export type Color = "comment" | "string" | "number" | "keyword";

export interface Piece {
  text: string;
  color?: Color;
}

interface Family {
  endings: string;
  /** What begins a comment that ends with its line. */
  line?: string;
  /** What a comment or a text of several lines begins and ends with. */
  blocks: [open: string, close: string, color: Color][];
  /** What a text within a line begins and ends with. */
  quotes: string;
  keywords: string;
}

const C_COMMENT: [string, string, Color] = ["/*", "*/", "comment"];
const XML_COMMENT: [string, string, Color] = ["<!--", "-->", "comment"];

const FAMILIES: Family[] = [
  {
    endings: "c cc cjs cpp cs cts cxx dart go gradle groovy h hpp java js jsx kt kts mjs mts php proto scala swift ts tsx zig",
    line: "//",
    blocks: [C_COMMENT, ["`", "`", "string"]],
    quotes: "\"'",
    keywords:
      "abstract as async await bool boolean break case catch char class const constexpr continue def default defer delete do double else enum " +
      "export extends extern false final finally float for foreach from func function go goto guard if implements import in instanceof int " +
      "interface internal is let long map match namespace new nil null nullptr object of override package private protected public range " +
      "readonly record return select short signed sizeof static string struct super switch template this throw throws trait true try type " +
      "typedef typeof undefined unsigned use using val var virtual void volatile when where while with yield",
  },
  {
    endings: "rs",
    line: "//",
    blocks: [C_COMMENT],
    quotes: '"',
    keywords:
      "as async await bool break char const continue crate dyn else enum extern false fn for i32 i64 if impl in let loop match mod move mut " +
      "pub ref return self Self static str struct super trait true type u32 u64 u8 unsafe use usize where while",
  },
  {
    endings: "py pyi",
    line: "#",
    blocks: [['"""', '"""', "string"], ["'''", "'''", "string"]],
    quotes: "\"'",
    keywords:
      "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda match None " +
      "nonlocal not or pass raise return self True try while with yield",
  },
  {
    endings: "bash ex exs fish mk ps1 rb sh zsh Dockerfile Makefile Rakefile Gemfile justfile",
    line: "#",
    blocks: [],
    quotes: "\"'",
    keywords:
      "begin break case class def do done elif else elsif end esac exit export false fi for function if in local module nil not or require " +
      "return self set then true unless until when while yield ARG CMD COPY ENTRYPOINT ENV FROM RUN USER WORKDIR",
  },
  { endings: "cfg conf ini properties toml yaml yml", line: "#", blocks: [], quotes: "\"'", keywords: "false no null off on true yes" },
  { endings: "json json5 jsonc jsonl", line: "//", blocks: [C_COMMENT], quotes: '"', keywords: "false null true" },
  { endings: "css less scss", blocks: [C_COMMENT], quotes: "\"'", keywords: "" },
  { endings: "htm html md svelte svg vue xml", blocks: [XML_COMMENT], quotes: '"', keywords: "" },
  {
    endings: "lua sql",
    line: "--",
    blocks: [C_COMMENT],
    quotes: "\"'",
    keywords:
      "ADD ALTER AND AS ASC BEGIN BY CASE COMMIT CREATE DEFAULT DELETE DESC DISTINCT DROP ELSE END EXISTS FOREIGN FROM GROUP HAVING IF IN INDEX " +
      "INNER INSERT INTO IS JOIN KEY LEFT LIKE LIMIT NOT NULL ON OR ORDER OUTER PRIMARY REFERENCES RIGHT SELECT SET TABLE THEN UNION UNIQUE " +
      "UPDATE VALUES VIEW WHEN WHERE WITH break do else elseif end false for function if in local nil not or repeat return then true until while",
  },
];

/** A longer line is data or was made by a program. */
const MOST_UNITS = 1000;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

interface Language {
  tokens: RegExp;
  blocks: Family["blocks"];
  keywords: Set<string>;
}

const languages = new Map<Family, Language>();

function languageOf(family: Family): Language {
  const known = languages.get(family);
  if (known !== undefined) return known;
  const parts = [
    ...family.blocks.map(([open]) => escaped(open)),
    ...(family.line === undefined ? [] : [`${family.line === "#" ? "(?<![\\w$])" : ""}${escaped(family.line)}.*`]),
    ...[...family.quotes].map((quote) => `${quote}(?:\\\\.|[^${quote}\\\\])*${quote}?`),
    "[A-Za-z_$][\\w$]*",
    "\\d[\\w.]*",
  ];
  const made = { tokens: new RegExp(parts.join("|"), "g"), blocks: family.blocks, keywords: new Set(family.keywords.split(" ")) };
  languages.set(family, made);
  return made;
}

/** Colors the lines of one file, one after the other; a comment may be open at the end of a line. */
export class Colorist {
  readonly #language: Language | undefined;

  constructor(path: string) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const ending = name.slice(name.lastIndexOf(".") + 1);
    const family = FAMILIES.find(({ endings }) => endings.split(" ").includes(ending));
    this.#language = family && languageOf(family);
  }

  /** The pieces of `line`, and in which block it ends; `open` is the block in which it begins. */
  color(line: string, open: number | undefined): { pieces: Piece[]; open: number | undefined } {
    const language = this.#language;
    if (language === undefined || line.length > MOST_UNITS) return { pieces: [{ text: line }], open };
    const pieces: Piece[] = [];
    let [at, seen] = [0, 0];
    const add = (end: number, color?: Color) => {
      if (end > at) pieces.push(color === undefined ? { text: line.slice(at, end) } : { text: line.slice(at, end), color });
      at = seen = end;
    };
    /** Adds a block up to its end, if that is on this line. */
    const block = (index: number, from: number) => {
      const [, close, color] = language.blocks[index]!;
      const end = line.indexOf(close, from);
      add(end < 0 ? line.length : end + close.length, color);
      open = end < 0 ? index : undefined;
    };
    if (open !== undefined) block(open, 0);
    while (seen < line.length) {
      language.tokens.lastIndex = seen;
      const [token] = language.tokens.exec(line) ?? [];
      if (token === undefined) break;
      const from = language.tokens.lastIndex - token.length;
      const index = language.blocks.findIndex(([open]) => open === token);
      const color = index >= 0 ? undefined : this.#colorOf(token, language);
      seen = from + token.length;
      if (index < 0 && color === undefined) continue;
      add(from);
      if (index >= 0) block(index, from + token.length);
      else add(from + token.length, color);
    }
    add(line.length);
    return { pieces, open };
  }

  #colorOf(token: string, { keywords }: Language): Color | undefined {
    if (/^["'`]/.test(token)) return "string";
    if (/^\d/.test(token)) return "number";
    if (/^[A-Za-z_$]/.test(token)) return keywords.has(token) ? "keyword" : undefined;
    return "comment";
  }
}
