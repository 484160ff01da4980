// Runs a workflow of GitHub Actions on this machine: the jobs in their order, and their steps as they
// are written. It refuses unknown keys, so that nothing is skipped silently. GitHub's parser checks
// the form of the files, in `npm/test/github.test.mjs`.

import { Evaluator, Lexer, Parser, data } from "@actions/expressions";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ACTIONS } from "./actions.mjs";

/** An error of a workflow, with job and step. */
export class Stopped extends Error {}

/** Supported keys. */
const KNOWN = {
  workflow: ["name", "on", "permissions", "concurrency", "jobs"],
  job: ["name", "needs", "strategy", "runs-on", "timeout-minutes", "environment", "permissions", "steps", "uses"],
  step: ["name", "uses", "with", "run", "env", "shell", "working-directory", "if"],
};
const SYSTEMS = { ubuntu: "Linux", macos: "macOS", windows: "Windows" };

function demandKnown(kind, object, where) {
  const unknown = Object.keys(object).filter((key) => !KNOWN[kind].includes(key));
  if (unknown.length > 0) throw new Stopped(`${where}: \`${unknown.join("`, `")}\` is not known here`);
}

/** Evaluates an expression with GitHub's evaluator. An expression without a value is refused. */
function evaluated(expression, contexts, where) {
  const dictionary = (values) =>
    new data.Dictionary(...Object.entries(values).map(([key, value]) => ({ key, value: literal(value) })));
  const literal = (value) => (typeof value === "object" ? dictionary(value) : new data.StringData(String(value)));
  let value;
  try {
    const parsed = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), []).parse();
    value = new Evaluator(parsed, dictionary(contexts)).evaluate();
  } catch (error) {
    throw new Stopped(`${where}: \`${expression}\`: ${error.message}`);
  }
  if (value.kind === data.Kind.Null) throw new Stopped(`${where}: \`${expression}\` has no value here`);
  return value.coerceString();
}

/** The jobs in an order that satisfies `needs`. */
function ordered(jobs) {
  const sorted = new Set();
  const visit = (name) => {
    for (const needed of [jobs[name].needs ?? []].flat()) visit(needed);
    sorted.add(name);
  };
  for (const name of Object.keys(jobs)) visit(name);
  return [...sorted];
}

/**
 * Performs a workflow.
 *
 * `world` has `repository` (the checkout that it belongs to), `work` (a folder for the jobs), `artifacts` (a folder),
 * `platform` (as which this machine stands), `contexts` (of expressions), `secrets` (by environment), `environment` (a
 * function of the permissions of a job and its environment, to the variables of its steps), and `log`. `only` names the
 * jobs that are performed; without it, all are.
 */
export function perform(file, world, { only, jobs: done = [] } = {}) {
  const workflow = parse(readFileSync(join(world.repository, file), "utf8"));
  demandKnown("workflow", workflow, file);
  for (const name of ordered(workflow.jobs)) {
    if (only !== undefined && !only.includes(name)) continue;
    const job = workflow.jobs[name];
    demandKnown("job", job, name);
    if (job.uses !== undefined) {
      perform(job.uses, world, { jobs: done });
    } else {
      const permissions = job.permissions ?? workflow.permissions;
      for (const matrix of job.strategy?.matrix?.include ?? [{}]) performJob(name, { ...job, permissions }, matrix, world);
    }
    done.push(name);
  }
  return done;
}

function performJob(name, job, matrix, world) {
  const row = matrix.platform ?? matrix.name;
  const label = row === undefined ? name : `${name} (${row})`;
  const contexts = { ...world.contexts, matrix, secrets: world.secrets?.[job.environment] ?? {} };
  const os = SYSTEMS[filled(job["runs-on"], contexts, label).split("-")[0]];
  const folder = join(world.work, label.replace(/\W+/g, "-"));
  // Each job starts in an empty folder, also when it is rerun.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const platform = [undefined, world.platform].includes(matrix.platform) ? undefined : matrix.platform;
  const environment = world.environment(job.permissions, job.environment);
  performSteps(job.steps, { label, contexts: { ...contexts, runner: { os } }, folder, world, platform, environment, permissions: job.permissions ?? {} });
}

function performSteps(steps, context) {
  for (const [at, step] of steps.entries()) {
    const where = `${context.label}, step ${at + 1} (${step.name ?? step.uses ?? "run"})`;
    demandKnown("step", step, where);
    if (step.if !== undefined && evaluated(step.if, context.contexts, where) !== "true") continue;
    const fill = (text) => filled(text, context.contexts, where);
    const here = { ...context, where, fill };
    if (step.uses?.startsWith("./")) {
      const { inputs, runs } = parse(readFileSync(join(context.world.repository, step.uses, "action.yml"), "utf8"));
      const given = Object.entries(inputs).map(([name]) => [name, fill(step.with[name])]);
      performSteps(runs.steps, { ...context, label: where, contexts: { ...context.contexts, inputs: Object.fromEntries(given) } });
    } else if (step.uses !== undefined) {
      context.world.log(`${where}: ${step.uses}`);
      act(step, here);
    } else {
      // For a job of another system, an artifact replaces the output of its scripts.
      context.world.log(context.platform === undefined ? where : `${where}: left out, this machine is ${context.world.platform}`);
      run(step, here);
    }
  }
}

/** The text with every `${{ … }}` replaced. */
function filled(text, contexts, where) {
  return String(text).replace(/\$\{\{\s*(.*?)\s*\}\}/g, (_, expression) => evaluated(expression, contexts, where));
}

function act(step, context) {
  const [name, version] = step.uses.split("@");
  if (!/^[0-9a-f]{40}$/.test(version ?? "")) {
    throw new Stopped(`${context.where}: an action is named by the digest of its commit; found \`${step.uses}\``);
  }
  const action = ACTIONS[name];
  if (action === undefined) throw new Stopped(`${context.where}: there is no fake for \`${name}\``);
  const given = Object.fromEntries(Object.entries(step.with ?? {}).map(([key, value]) => [key, context.fill(value)]));
  const unknown = Object.keys(given).filter((key) => !action.takes.includes(key));
  if (unknown.length > 0) throw new Stopped(`${context.where}: \`${unknown.join("`, `")}\` is not known here`);
  try {
    action.perform(given, context);
  } catch (error) {
    throw new Stopped(`${context.where}: ${error.message}`);
  }
}

function run(step, { fill, folder, where, contexts, platform, environment }) {
  if (contexts.runner.os === "Windows" && step.shell !== "bash") {
    throw new Stopped(`${where}: on Windows a script is for PowerShell unless it says \`shell: bash\``);
  }
  const script = fill(step.run);
  const own = Object.fromEntries(Object.entries(step.env ?? {}).map(([key, value]) => [key, fill(value)]));
  if (platform !== undefined) return;
  const words = step.shell === "bash" ? ["--noprofile", "--norc", "-eo", "pipefail", "-c"] : ["-e", "-c"];
  const cwd = join(folder, fill(step["working-directory"] ?? "."));
  const env = { ...environment, ...own };
  const end = spawnSync("bash", [...words, script], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (end.status !== 0) {
    const said = `${end.stdout}${end.stderr}`.trim().split("\n").slice(-25).join("\n  | ");
    throw new Stopped(`${where}: exit code ${end.status ?? end.signal ?? end.error}\n  | ${said}`);
  }
}
