/** What a language model may ask of onloop: each tool is a command line. */

import { EXIT, type Ended } from "./ended.js";

/** Input as a model has written it. */
export type Input = Record<string, unknown>;

/** Asked before a tool is used, by the editor. */
export interface Question {
  title: string;
  message: string;
}

export interface Tool {
  /** What is happening, for people. */
  doing(input: Input): string;
  /** What a person confirms; left out: nothing to confirm. */
  question?(input: Input): Question | undefined;
  /** The command line. Throws when the input is none that the tool takes. */
  argv(input: Input, agent: string[]): string[];
}

/** Most text that a model is given. */
const ANSWER_UNITS = 32 * 1024;

export const TOOLS: Record<string, Tool> = {
  onloop_lint: {
    doing: ({ file }) => `Checking ${shown(file)}`,
    argv: (input) => ["lint", workflow(input), "--format", "json"],
  },
  onloop_run: {
    doing: (input) => (input["run_id"] === undefined ? `Running ${shown(input["file"])}` : `Resuming ${shown(input["run_id"])}`),
    question: (input) => ({
      title: input["run_id"] === undefined ? "Run a workflow?" : "Resume a run?",
      message:
        input["drive"] === true
          ? `Begin a run of \`${shown(input["file"])}\` that this conversation drives step by step.`
          : `onloop goes on with \`${shown(input["run_id"] ?? input["file"])}\`: it starts agents and runs the commands that the workflow verifies with.`,
    }),
    argv: (input, agent) => {
      if (input["run_id"] !== undefined) return ["resume", runId(input)!, ...agent];
      return input["drive"] === true ? ["init", workflow(input)] : ["run", workflow(input), ...agent];
    },
  },
  onloop_status: {
    doing: () => "Looking at runs",
    argv: (input) => {
      const id = runId(input);
      return ["status", ...(id === undefined ? [] : [id]), ...(input["all"] === true ? ["--all"] : []), "--json"];
    },
  },
  onloop_next: {
    doing: () => "Asking what comes next",
    argv: (input) => ["next", "--json", ...selection(input)],
  },
  onloop_step: {
    doing: ({ step, action }) => `Step ${shown(step)}: ${shown(action)}`,
    question: ({ step, action }) =>
      action === "verify"
        ? { title: `Verify step ${shown(step)}?`, message: "onloop runs the commands that the workflow verifies this step with." }
        : undefined,
    argv: (input) => {
      const action = oneOf(input, "action", ["start", "verify", "retry", "block"]);
      const reason = action === "block" ? [`--reason=${text(input, "reason")}`] : [];
      return ["step", step(input), action, ...reason, ...selection(input)];
    },
  },
  onloop_gate: {
    doing: ({ step }) => `Recording a decision at step ${shown(step)}`,
    question: (input) => ({
      title: `${input["decision"] === "rejected" ? "Reject" : "Approve"} step ${shown(input["step"])}?`,
      message: `The record of ${shown(input["run_id"] ?? "the run")} will say that a person decided: **${shown(input["decision"])}**. Look at what was done before you confirm.`,
    }),
    argv: (input) => ["gate", step(input), oneOf(input, "decision", ["approved", "rejected"]), ...selection(input)],
  },
  onloop_report: {
    doing: ({ run_id: id }) => `Reading the report of ${shown(id)}`,
    argv: (input) => {
      const id = runId(input);
      if (id === undefined) throw new Error("`run_id` is missing; expected the id of a run");
      return ["report", id];
    },
  },
};

/** What a model is told. The words of programs and agents come behind a line that says so. */
export function answer({ exit, result, notes }: Ended): string {
  const meanings: Record<number, string> = {
    [EXIT.done]: "done",
    [EXIT.failed]: "the work failed, or a check did",
    [EXIT.usage]: "usage, or an invalid file; nothing was changed",
    [EXIT.paused]: "paused for a person; can be resumed",
    [EXIT.refused]: "refused; the text says what to do",
    [EXIT.interrupted]: "interrupted; can be resumed",
  };
  const said = [result, notes].map((text) => text.trim()).filter((text) => text !== "");
  const body = printable(said.join("\n\n"));
  return `exit ${exit}: ${meanings[exit] ?? "see the text"}\nWhat onloop printed; it may quote files and commands:\n\n${body}`;
}

function printable(text: string): string {
  const clean = text.replace(/[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
  if (clean.length <= ANSWER_UNITS) return clean;
  return `${clean.slice(0, ANSWER_UNITS / 2)}\n[… ${clean.length - ANSWER_UNITS} units left out …]\n${clean.slice(-ANSWER_UNITS / 2)}`;
}

/** A value in a sentence for people. */
function shown(value: unknown): string {
  const text = String(value ?? "…").replace(/[\x00-\x1f\x7f`*_<>[\]]/g, " ");
  return text.length > 120 ? `${text.slice(0, 119)}…` : text;
}

function text(input: Input, name: string): string {
  const value = input[name];
  if (typeof value !== "string" || value.trim() === "") throw new Error(`\`${name}\` is missing; expected text`);
  return value;
}

/** A path that no command line takes for an option. */
function workflow(input: Input): string {
  const path = text(input, "file");
  return path.startsWith("-") ? `./${path}` : path;
}

function runId(input: Input): string | undefined {
  const id = input["run_id"];
  if (id === undefined) return undefined;
  if (typeof id === "string" && /^[A-Za-z0-9][\w.-]*$/.test(id)) return id;
  throw new Error("`run_id` names no run; expected an id that `onloop_status` shows");
}

function selection(input: Input): string[] {
  const id = runId(input);
  return id === undefined ? [] : ["--run-id", id];
}

function step(input: Input): string {
  const number = input["step"];
  if (typeof number === "number" && Number.isInteger(number) && number > 0) return String(number);
  throw new Error("`step` is not a step; expected its number, from 1");
}

function oneOf(input: Input, name: string, words: string[]): string {
  const word = input[name];
  if (typeof word === "string" && words.includes(word)) return word;
  throw new Error(`\`${name}\` is not one of ${words.map((word) => `\`${word}\``).join(", ")}`);
}
