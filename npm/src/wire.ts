/** How a host answers the documents of the core, and where their bytes go. */

import * as given from "./arguments.js";
import { Failure } from "./failure.js";
import type { Host, HostRequest } from "./host.js";
import type { Bytes, Reply, Request, Turn } from "./vocabulary.js";

/** A document and the bytes that belong to it: it has the position of each in this list. */
export interface Message {
  json: string;
  attachments: Uint8Array[];
}

/** The names, at any depth, of members that may be a `Wanted`. */
type Names<T, Wanted> = T extends Bytes | string | number | boolean | null | undefined
  ? never
  : T extends readonly (infer Item)[]
    ? Names<Item, Wanted>
    : { [Name in keyof T & string]: (Extract<T[Name], Wanted> extends never ? never : Name) | Names<T[Name], Wanted> }[keyof T & string];

/** Members of requests that are bytes. None of these names is a number elsewhere. */
const BYTES: Readonly<Record<Exclude<Names<Request, Bytes>, Names<Request, number>>, true>> = {
  bytes: true,
  old: true,
  new: true,
  stdin: true,
  body: true,
};

/** A turn of the core, with its bytes in their places. */
export function readTurn({ json, attachments }: Message): Turn {
  return JSON.parse(json, (name, value: unknown) => {
    if (typeof value !== "number" || !Object.hasOwn(BYTES, name)) return value;
    const bytes = attachments[value];
    if (bytes === undefined) throw new Error(`the core sent no attachment ${value}`);
    return bytes;
  }) as Turn;
}

/** Performs one request. A failed effect is an answer, too; a bug in a host is not. */
export async function perform(host: Host, request: HostRequest): Promise<Message> {
  let reply: Reply;
  try {
    const outcome = await host.perform(request);
    reply = { at_ms: host.nowMs(), outcome };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { kind, message } = error;
    reply = { at_ms: host.nowMs(), failure: { kind, message } };
  }
  const attachments: Uint8Array[] = [];
  return { json: JSON.stringify(detached(reply, attachments)), attachments };
}

/** A document with positions instead of bytes. */
function detached(value: unknown, attachments: Uint8Array[]): unknown {
  if (ArrayBuffer.isView(value)) return attachments.push(given.bytes(value)) - 1;
  if (Array.isArray(value)) return value.map((item) => detached(item, attachments));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, detached(member, attachments)]);
  return Object.fromEntries(members);
}
