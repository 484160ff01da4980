/** The tools of language models. Each is a command line of onloop. */

import { EXIT, type ProgramResult } from "./program_result.js";

/** Input that a model wrote; it is not validated yet. */
export type Input = Record<string, unknown>;

/** A question of the editor before it uses a tool. */
export interface Question {
  title: string;
  message: string;
}

export interface Tool {
  /** The progress message. */
  doing(input: Input): string;
  /** The question that a person confirms; without it the tool needs no confirmation. */
  question?(input: Input): Question | undefined;
  /** The command line. Throws if the input is invalid. */
  argv(input: Input, agent: string[]): string[];
}

/** Most text that a model gets, in UTF-16 units. */
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
          ? `Start a run of \`${shown(input["file"])}\` that this conversation drives step by step.`
          : `onloop runs \`${shown(input["run_id"] ?? input["file"])}\`: it starts agents and runs the checks of the workflow.`,
    }),
    argv: (input, agent) => {
      if (input["run_id"] !== undefined) return ["resume", runId(input)!, ...agent];
      return input["drive"] === true ? ["init", workflow(input)] : ["run", workflow(input), ...agent];
    },
  },
  onloop_status: {
    doing: () => "Reading the runs",
    argv: (input) => {
      const id = runId(input);
      return ["status", ...(id === undefined ? [] : [id]), ...(input["all"] === true ? ["--all"] : []), "--json"];
    },
  },
  onloop_next: {
    doing: () => "Reading the next action",
    argv: (input) => ["next", "--json", ...selection(input)],
  },
  onloop_step: {
    doing: ({ step, action }) => `Step ${shown(step)}: ${shown(action)}`,
    question: ({ step, action }) =>
      action === "verify"
        ? { title: `Verify step ${shown(step)}?`, message: "onloop runs the checks of this step." }
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
      message: `The record of ${shown(input["run_id"] ?? "the run")} will say that a person decided: **${shown(input["decision"])}**.${input["decision"] === "rejected" ? " A rejection ends the run." : ""} Review the work before you confirm.`,
    }),
    argv: (input) => {
      const decision = oneOf(input, "decision", ["approved", "rejected"]);
      const reason = decision === "rejected" ? [`--reason=step ${step(input)} was rejected in a chat`] : [];
      return ["gate", step(input), decision, ...reason, ...selection(input)];
    },
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

/** The answer for a model. A line marks the output of programs and agents as quoted. */
export function answer({ exit, result, notes }: ProgramResult): string {
  const meanings: Record<number, string> = {
    [EXIT.done]: "done",
    [EXIT.failed]: "the work or a check failed",
    [EXIT.usage]: "wrong usage or an invalid file; nothing was changed",
    [EXIT.paused]: "waiting for a person; can be resumed",
    [EXIT.refused]: "refused; see the text for what to do",
    [EXIT.interrupted]: "interrupted; can be resumed",
  };
  const said = [result, notes].map((text) => text.trim()).filter((text) => text !== "");
  const body = printable(said.join("\n\n"));
  return `exit ${exit}: ${meanings[exit] ?? "see the text"}\nWhat onloop printed; it may quote files and commands:\n\n${body}`;
}

function printable(text: string): string {
  const clean = text.replace(/[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
  if (clean.length <= ANSWER_UNITS) return clean;
  return `${clean.slice(0, ANSWER_UNITS / 2)}\n[… ${clean.length - ANSWER_UNITS} characters omitted …]\n${clean.slice(-ANSWER_UNITS / 2)}`;
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

/** The workflow path, in a form that is never an option. */
function workflow(input: Input): string {
  const path = text(input, "file");
  return path.startsWith("-") ? `./${path}` : path;
}

function runId(input: Input): string | undefined {
  const id = input["run_id"];
  if (id === undefined) return undefined;
  if (typeof id === "string" && /^[A-Za-z0-9][\w.-]*$/.test(id)) return id;
  throw new Error("`run_id` is not the id of a run; expected one that `onloop_status` shows");
}

function selection(input: Input): string[] {
  const id = runId(input);
  return id === undefined ? [] : ["--run-id", id];
}

function step(input: Input): string {
  const number = input["step"];
  if (typeof number === "number" && Number.isInteger(number) && number > 0) return String(number);
  throw new Error("`step` is not the number of a step, expected an integer from 1");
}

function oneOf(input: Input, name: string, words: string[]): string {
  const word = input[name];
  if (typeof word === "string" && words.includes(word)) return word;
  throw new Error(`\`${name}\` is invalid, expected one of ${words.map((word) => `\`${word}\``).join(", ")}`);
}
