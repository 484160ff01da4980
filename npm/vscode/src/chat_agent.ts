/** Runs a conversation in which a language model of the editor is the agent. */

import type { Capture } from "onloop";

/** A part of a model's turn: text or a tool call. */
export type Part = { text: string } | { call: string; tool: string; input: object };

/** A message of a conversation. */
export type Message =
  | { from: "user"; text: string }
  | { from: "model"; parts: Part[] }
  | { from: "tools"; results: { call: string; result: unknown }[] };

export interface Model {
  /** The model's next turn. */
  say(messages: Message[]): AsyncIterable<Part>;
  /** Calls a tool. A failure is a result with its reason. */
  use(tool: string, input: object): Promise<unknown>;
  /** The result of a call that is not performed. */
  refuse(why: string): unknown;
}

/** Default for the most turns of a conversation. */
export const TURNS = 200;
/** Most calls of one turn; further ones are refused. */
export const CALLS = 32;

/** Continues until the model uses no more tools. Returns all its text, like the output of a process. */
export async function converse(
  model: Model,
  prompt: string,
  heard: (words: string) => void,
  turns = TURNS,
): Promise<string> {
  const messages: Message[] = [{ from: "user", text: prompt }];
  let said = "";
  for (let turn = 0; turn < turns; turn += 1) {
    const parts: Part[] = [];
    for await (const part of model.say(messages)) {
      parts.push(part);
      if ("text" in part) {
        said += part.text;
        heard(part.text);
      }
    }
    const calls = parts.flatMap((part) => ("call" in part ? [part] : []));
    if (calls.length === 0) return said;
    // The text of the next turn begins on a new line.
    if (said !== "" && !said.endsWith("\n")) said += "\n";
    messages.push({ from: "model", parts });
    const results = [];
    for (const [at, { call, tool, input }] of calls.entries()) {
      const result = at < CALLS ? await model.use(tool, input) : model.refuse(`at most ${CALLS} tools can be used in one turn`);
      results.push({ call, result });
    }
    messages.push({ from: "tools", results });
  }
  throw new Error(`the model still used tools after ${turns} turns`);
}

/** Text as the captured output of a process, of which a long one keeps only head and tail. */
export function captured(words: string, captureBytes: number): Capture {
  const bytes = new TextEncoder().encode(words);
  const rest = bytes.subarray(captureBytes);
  const tail = rest.subarray(Math.max(0, rest.length - captureBytes));
  return { head: bytes.subarray(0, captureBytes), tail, total_bytes: bytes.length };
}
