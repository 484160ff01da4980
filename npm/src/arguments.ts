/**
 * Checks the arguments of callers. A wrong argument would trap in the module, and a trap ends every
 * program in the same instance.
 */

const MOST_SHOWN = 60;

/** Longest text. A text that does not fit into the memory of an instance traps as well. */
const MOST_UNITS = 128 * 1024 * 1024;

/** A value in a message. */
function shown(value: unknown): string {
  switch (typeof value) {
    case "undefined":
      return "missing";
    case "string": {
      const quoted = JSON.stringify(value);
      return quoted.length > MOST_SHOWN ? `${quoted.slice(0, MOST_SHOWN)}…` : quoted;
    }
    case "number":
    case "boolean":
      return String(value);
    case "bigint":
      return `${value}n`;
    case "symbol":
      return "a symbol";
    case "function":
      return "a function";
    default:
      if (value === null) return "null";
      return Array.isArray(value) ? "an array" : "an object";
  }
}

/** The error of a wrong argument. */
export function wrong(name: string, value: unknown, expected: string): TypeError {
  return new TypeError(`\`${name}\` is ${shown(value)}, expected ${expected}`);
}

export function text(name: string, value: unknown, expected = "a string"): string {
  if (typeof value !== "string") throw wrong(name, value, expected);
  if (value.length > MOST_UNITS) {
    throw new TypeError(`\`${name}\` has ${value.length} characters, expected at most ${MOST_UNITS}`);
  }
  return value;
}

export function optionalText(name: string, value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : text(name, value, "a string or nothing");
}

export function record(value: unknown): string {
  return text("record", value, "the text that `begin` or `apply` returned");
}

export function session(value: unknown): string {
  return text("session", value, "the text that `sessionBegin` or a function after it returned");
}

/** A time, as milliseconds since 1970. */
export function milliseconds(name: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw wrong(name, value, "milliseconds since 1970, such as `Date.now()`");
  }
  return value;
}

/** An offset in a text; offsets behind every possible text mean its end. */
export function offset(name: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
    throw wrong(name, value, "an offset in UTF-16 units, from 0");
  }
  return Math.min(value, 0xffff_ffff);
}

/** The number of a step. */
export function stepNumber(name: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > 0xffff_ffff) {
    throw wrong(name, value, "the number of a step, from 1");
  }
  return value;
}

export function flag(name: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw wrong(name, value, "true or false");
  return value;
}

/** One of `words`. */
export function word<W extends string>(name: string, value: unknown, words: readonly W[]): W {
  if (!words.includes(value as W)) throw wrong(name, value, oneOf(words));
  return value as W;
}

/** `a`, `b` or `c`. */
function oneOf(words: readonly string[]): string {
  const quoted = words.map((each) => `\`${each}\``);
  const last = quoted.pop() ?? "";
  return quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
}

/** The type of a member of a document; with `?` it may be missing or null. */
type Kind = "string" | "number" | "boolean" | "object";
type Shape = Readonly<Record<string, Kind | `${Kind}?`>>;

/** A document, as JSON. Wrong types of members in `shape` are a `TypeError`; the core checks the rest. */
export function document(name: string, value: unknown, shape: Shape = {}): string {
  shaped(name, value, shape);
  return json(name, value);
}

/** Like `document`, but other members than those of `shape` are refused, because they are misspelled. */
export function closedDocument(name: string, value: unknown, shape: Shape): string {
  shaped(name, value, shape);
  for (const member of Object.keys(value as object)) {
    if (!(member in shape)) {
      throw new TypeError(`\`${name}\` has no member \`${member}\`, expected ${oneOf(Object.keys(shape))}`);
    }
  }
  return json(name, value);
}

/** Documents, as JSON. */
export function documents(name: string, value: unknown, shape: Shape): string {
  if (!Array.isArray(value)) throw wrong(name, value, "an array of objects");
  value.forEach((item, at) => shaped(`${name}[${at}]`, item, shape));
  return json(name, value);
}

const ARTICLES: Readonly<Record<Kind, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  object: "an object",
};

function shaped(name: string, value: unknown, shape: Shape): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(name, value, "an object");
  }
  for (const [member, word] of Object.entries(shape)) {
    const found = (value as Record<string, unknown>)[member];
    const isOptional = word.endsWith("?");
    const kind = (isOptional ? word.slice(0, -1) : word) as Kind;
    if (isOptional && (found === undefined || found === null)) continue;
    const fits = typeof found === kind && found !== null && !(kind === "number" && !Number.isFinite(found));
    if (!fits) throw wrong(`${name}.${member}`, found, ARTICLES[kind]);
  }
}

/** An array of texts, as JSON. */
export function texts(name: string, value: unknown): string {
  if (!Array.isArray(value)) throw wrong(name, value, "an array of strings");
  value.forEach((item, at) => text(`${name}[${at}]`, item));
  return json(name, value);
}

/** Environment variables, as JSON, without those that are `undefined`. */
export function variables(name: string, value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw wrong(name, value, "an object of strings");
  }
  for (const [variable, content] of Object.entries(value)) {
    if (content !== undefined) text(`${name}.${variable}`, content);
  }
  return json(name, value);
}

/** JSON with U+FFFD for each unpaired surrogate, which the core would refuse. */
function json(name: string, value: unknown): string {
  let written: string | undefined;
  try {
    written = JSON.stringify(value);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new TypeError(`\`${name}\` cannot be written as JSON: ${why}`, { cause: error });
  }
  // A `toJSON` method may return `undefined`.
  if (written === undefined) throw new TypeError(`\`${name}\` has no form in JSON, expected a document`);
  return text(name, written).replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/gi, (escape, half) =>
    half === undefined ? escape : "\\ufffd",
  );
}

/** An object for a decision, as JSON. Text that is not valid Unicode is refused, because it would change. */
export function judged(name: string, value: unknown, shape: Shape): string {
  document(name, value, shape);
  const written = JSON.stringify(value);
  // The pattern skips escaped backslashes.
  const halves = [...written.matchAll(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/gi)].some(([, half]) => half !== undefined);
  if (halves) throw new TypeError(`\`${name}\` has half of a surrogate pair, expected Unicode text`);
  return written;
}

/** Bytes of a host, which may come from another realm. */
export function bytes(value: unknown): Uint8Array {
  if (ArrayBuffer.isView(value) && "BYTES_PER_ELEMENT" in value && value.BYTES_PER_ELEMENT === 1) {
    return value as Uint8Array;
  }
  throw new TypeError(`the host gave ${shown(value)} where bytes belong, expected a \`Uint8Array\``);
}

const METHODS = ["perform", "nowMs", "end"] as const;

/** Throws unless `value` has the methods of a host. */
export function host(value: unknown): void {
  const expected = `an object with ${METHODS.map((name) => `\`${name}\``).join(", ")}`;
  if (typeof value !== "object" || value === null) throw wrong("host", value, expected);
  for (const name of METHODS) {
    const method = (value as Record<string, unknown>)[name];
    if (typeof method !== "function") throw wrong(`host.${name}`, method, "a function");
  }
}

/** The names of the program in a command line, with or without a path. */
const PROGRAMS = /^(?:.*[\\/])?(?:onloop|hotl-rt)(?:\.exe)?$/;

/** The start of a program, as JSON. */
export function start(value: unknown): string {
  const written = document("start", value, { argv: "object", env: "object", cwd: "string", terminal: "object" });
  const { argv } = value as { argv: unknown };
  texts("start.argv", argv);
  const [program] = argv as string[];
  if (program === undefined || !PROGRAMS.test(program)) {
    const example = JSON.stringify(["onloop", ...(argv as string[])]);
    const write = example.length > 200 ? '["onloop", …]' : example;
    throw wrong("start.argv[0]", program, `\`onloop\`, the name of the program; write ${write}`);
  }
  return written;
}
