/** Exchanges documents between the core and a host. */

import * as given from "./arguments.js";
import { Failure } from "./failure.js";
import type { Host, HostRequest } from "./host.js";
import type { Bytes, Request, Turn } from "./vocabulary.js";

/** A document and its bytes. The document has the index of each attachment in their place. */
export interface Message {
  json: string;
  attachments: Uint8Array[];
}

/** The names of members, at any depth, that may have the type `Wanted`. */
type Names<T, Wanted> = T extends Bytes | string | number | boolean | null | undefined
  ? never
  : T extends readonly (infer Item)[]
    ? Names<Item, Wanted>
    : { [Name in keyof T & string]: (Extract<T[Name], Wanted> extends never ? never : Name) | Names<T[Name], Wanted> }[keyof T & string];

/** Members of requests that are bytes. No other member with such a name is a number. */
const BYTES: Readonly<Record<Exclude<Names<Request, Bytes>, Names<Request, number>>, true>> = {
  bytes: true,
  old: true,
  new: true,
  stdin: true,
  body: true,
};

/** Parses a turn of the core, and inserts its bytes. */
export function readTurn(message: Message): Turn {
  return attached(message) as Turn;
}

/** Parses a document of the core, and inserts its bytes. */
export function attached({ json, attachments }: Message): unknown {
  return JSON.parse(json, (name, value: unknown) => {
    if (typeof value !== "number" || !Object.hasOwn(BYTES, name)) return value;
    const bytes = attachments[value];
    if (bytes === undefined) throw new Error(`the core sent no attachment ${value}`);
    return bytes;
  });
}

/** Performs one request. A failure becomes a reply, and any other error is thrown. */
export function perform(host: Host, request: HostRequest): Promise<Message> {
  return written("outcome", () => host.perform(request), () => ({ at_ms: host.nowMs() }));
}

/** The document with the result of `work` under this name, or with its failure. */
export async function written(
  name: string,
  work: () => Promise<unknown>,
  more: () => object = () => ({}),
): Promise<Message> {
  try {
    const value = await work();
    return message({ ...more(), [name]: value });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { kind, message: why, fix } = error;
    return message({ ...more(), failure: { kind, message: why, ...(fix !== undefined && { fix }) } });
  }
}

/** A document for the core. */
export function message(document: object): Message {
  const attachments: Uint8Array[] = [];
  return { json: JSON.stringify(detached(document, attachments)), attachments };
}

/** Replaces bytes by their indices in `attachments`. */
function detached(value: unknown, attachments: Uint8Array[]): unknown {
  if (ArrayBuffer.isView(value)) return attachments.push(given.bytes(value)) - 1;
  if (Array.isArray(value)) return value.map((item) => detached(item, attachments));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, detached(member, attachments)]);
  return Object.fromEntries(members);
}
