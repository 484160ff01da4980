/** A language model of the editor as the agent: it gets a prompt and may use the editor's tools. */

import type { Capture } from "onloop";

/** What a model says: words, or a wish to use a tool. */
export type Part = { text: string } | { call: string; tool: string; input: object };

/** One turn of a conversation. */
export type Message =
  | { from: "user"; text: string }
  | { from: "model"; parts: Part[] }
  | { from: "tools"; results: { call: string; result: unknown }[] };

export interface Model {
  /** The model's next turn. */
  say(messages: Message[]): AsyncIterable<Part>;
  /** What a tool answers; a tool that fails answers with why. */
  use(tool: string, input: object): Promise<unknown>;
  /** What a call is answered that is not done. */
  refuse(why: string): unknown;
}

/** Most turns of one conversation, unless the person says otherwise; an agent that needs more gets nowhere. */
export const TURNS = 200;
/** Most calls of one turn; what goes beyond is answered without being done. */
export const CALLS = 32;

/**
 * Talks until the model uses no more tools and returns all its words: what a process would have
 * printed.
 */
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
    // The next turn's words begin a line of their own.
    if (said !== "" && !said.endsWith("\n")) said += "\n";
    messages.push({ from: "model", parts });
    const results = [];
    for (const [at, { call, tool, input }] of calls.entries()) {
      const result = at < CALLS ? await model.use(tool, input) : model.refuse(`at most ${CALLS} tools can be used in one turn`);
      results.push({ call, result });
    }
    messages.push({ from: "tools", results });
  }
  throw new Error(`the model went on using tools for ${turns} turns`);
}

/** Words as the output of a process: all of them, or their beginning and their end. */
export function captured(words: string, captureBytes: number): Capture {
  const bytes = new TextEncoder().encode(words);
  const rest = bytes.subarray(captureBytes);
  const tail = rest.subarray(Math.max(0, rest.length - captureBytes));
  return { head: bytes.subarray(0, captureBytes), tail, total_bytes: bytes.length };
}
