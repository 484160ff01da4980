/**
 * What callers pass. A wrong argument must not reach the module: there it would be a trap, and a trap
 * ends whatever else goes on in the same instance.
 */

const MOST_SHOWN = 60;

/** Memory of an instance is bounded, and what does not fit into it is a trap as well. */
const MOST_UNITS = 128 * 1024 * 1024;

/** What a value is, for a message. */
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

/** The error of an argument that is not what it should be. */
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

/** An offset in a text. What lies behind any text that fits is as good as its end. */
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

/** One of a closed set of words. */
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

/** What a member of a document is; with `?` it may be missing or null. */
type Kind = "string" | "number" | "boolean" | "object";
type Shape = Readonly<Record<string, Kind | `${Kind}?`>>;

/**
 * A document, as JSON. `shape` has the members whose types are worth a `TypeError`; the rest, and what
 * they mean, is judged by the core.
 */
export function document(name: string, value: unknown, shape: Shape = {}): string {
  shaped(name, value, shape);
  return json(name, value);
}

/** As `document`, and other members are refused: what is misspelt would be as if it were not there. */
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

/** Texts alone, as JSON. */
export function texts(name: string, value: unknown): string {
  if (!Array.isArray(value)) throw wrong(name, value, "an array of strings");
  value.forEach((item, at) => text(`${name}[${at}]`, item));
  return json(name, value);
}

/** Environment variables, as JSON. Those without a value are left out. */
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
  // A `toJSON` may give anything.
  if (written === undefined) throw new TypeError(`\`${name}\` is nothing as JSON, expected a document`);
  return text(name, written).replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/gi, (escape, half) =>
    half === undefined ? escape : "\\ufffd",
  );
}

/**
 * An object about which is decided, exactly as it is: what is no Unicode text is refused and not judged in
 * another form.
 */
export function judged(name: string, value: unknown, shape: Shape): string {
  document(name, value, shape);
  const written = JSON.stringify(value);
  // A backslash before what looks like half of a pair is a backslash.
  const halves = [...written.matchAll(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/gi)].some(([, half]) => half !== undefined);
  if (halves) throw new TypeError(`\`${name}\` has half of a surrogate pair, expected Unicode text`);
  return written;
}

/** Bytes that a host gives. Those of another realm are bytes, too. */
export function bytes(value: unknown): Uint8Array {
  if (ArrayBuffer.isView(value) && "BYTES_PER_ELEMENT" in value && value.BYTES_PER_ELEMENT === 1) {
    return value as Uint8Array;
  }
  throw new TypeError(`the host gave ${shown(value)} where bytes belong, expected a \`Uint8Array\``);
}

const METHODS = ["perform", "nowMs", "end"] as const;

/** What performs the effects of a program. */
export function host(value: unknown): void {
  const expected = `an object with ${METHODS.map((name) => `\`${name}\``).join(", ")}`;
  if (typeof value !== "object" || value === null) throw wrong("host", value, expected);
  for (const name of METHODS) {
    const method = (value as Record<string, unknown>)[name];
    if (typeof method !== "function") throw wrong(`host.${name}`, method, "a function");
  }
}

/** What a program is called by, as a shell hands it over. */
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
