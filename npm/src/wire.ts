/** Exchanges documents between the core and a host. */

import * as given from "./arguments.js";
import { Failure } from "./failure.js";
import type { Host, HostRequest } from "./host.js";
import type { Bytes, Reply, Request, Turn } from "./vocabulary.js";

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
export function readTurn({ json, attachments }: Message): Turn {
  return JSON.parse(json, (name, value: unknown) => {
    if (typeof value !== "number" || !Object.hasOwn(BYTES, name)) return value;
    const bytes = attachments[value];
    if (bytes === undefined) throw new Error(`the core sent no attachment ${value}`);
    return bytes;
  }) as Turn;
}

/** Performs one request. A failure becomes a reply, and any other error is thrown. */
export async function perform(host: Host, request: HostRequest): Promise<Message> {
  let reply: Reply;
  try {
    const outcome = await host.perform(request);
    reply = { at_ms: host.nowMs(), outcome };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { kind, message, fix } = error;
    reply = { at_ms: host.nowMs(), failure: { kind, message, ...(fix !== undefined && { fix }) } };
  }
  const attachments: Uint8Array[] = [];
  return { json: JSON.stringify(detached(reply, attachments)), attachments };
}

/** Replaces bytes by their indices in `attachments`. */
function detached(value: unknown, attachments: Uint8Array[]): unknown {
  if (ArrayBuffer.isView(value)) return attachments.push(given.bytes(value)) - 1;
  if (Array.isArray(value)) return value.map((item) => detached(item, attachments));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, detached(member, attachments)]);
  return Object.fromEntries(members);
}
