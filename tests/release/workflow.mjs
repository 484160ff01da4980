// Reads a workflow of GitHub Actions and performs it here: the jobs in their order, in each of them the steps as they
// are written. It knows what our workflows use and refuses the rest, so that nothing is passed over in silence.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ACTIONS } from "./actions.mjs";

/** What stops a workflow; it names job and step. */
export class Stopped extends Error {}

/** Keys that mean something here. A key that is not listed is refused. */
const KNOWN = {
  workflow: ["name", "on", "permissions", "concurrency", "jobs"],
  job: ["needs", "strategy", "runs-on", "timeout-minutes", "environment", "permissions", "steps", "uses"],
  step: ["name", "uses", "with", "run", "env", "shell", "working-directory", "if"],
};

function demandKnown(kind, object, where) {
  const unknown = Object.keys(object).filter((key) => !KNOWN[kind].includes(key));
  if (unknown.length > 0) throw new Stopped(`${where}: \`${unknown.join("`, `")}\` is not known here`);
}

/** The text with every `${{ … }}` replaced. */
export function filled(text, values, where) {
  return String(text).replace(/\$\{\{\s*(.*?)\s*\}\}/g, (_, name) => {
    if (!(name in values)) throw new Stopped(`${where}: \`\${{ ${name} }}\` has no value here`);
    return values[name];
  });
}

/** The jobs in an order in which each comes after what it needs. */
export function ordered(jobs) {
  const sorted = [];
  const visit = (name, path) => {
    if (path.includes(name)) throw new Stopped(`the jobs ${path.join(", ")} wait for each other`);
    if (jobs[name] === undefined) throw new Stopped(`a job needs \`${name}\`, which is not there`);
    if (sorted.includes(name)) return;
    for (const needed of [jobs[name].needs ?? []].flat()) visit(needed, [...path, name]);
    sorted.push(name);
  };
  for (const name of Object.keys(jobs)) visit(name, []);
  return sorted;
}

/**
 * Performs a workflow.
 *
 * `world` has `repository` (the checkout that it belongs to), `work` (a folder for the jobs), `artifacts` (a folder),
 * `tag`, `platform` (as which this machine stands), `environment` (a function of the permissions of a job and its
 * environment, to the variables of its steps), and `log`. `only` names the jobs that are performed; without it, all are.
 */
export function perform(file, world, { only, jobs: done = [] } = {}) {
  const workflow = parse(readFileSync(join(world.repository, file), "utf8"));
  demandKnown("workflow", workflow, file);
  for (const name of ordered(workflow.jobs)) {
    if (only !== undefined && !only.includes(name)) continue;
    const job = workflow.jobs[name];
    demandKnown("job", job, name);
    if (job.uses !== undefined) {
      if (!job.uses.startsWith("./")) throw new Stopped(`${name}: only workflows of this repository are called`);
      perform(job.uses.slice(2), world, { jobs: done });
    } else {
      const permissions = job.permissions ?? workflow.permissions ?? {};
      for (const matrix of job.strategy?.matrix?.include ?? [{}]) performJob(name, { ...job, permissions }, matrix, world);
    }
    done.push(name);
  }
  return done;
}

function performJob(name, job, matrix, world) {
  const label = matrix.platform === undefined ? name : `${name} (${matrix.platform})`;
  const values = { "github.token": "a-token", "github.repository": "onloop/onloop" };
  for (const [key, value] of Object.entries(matrix)) values[`matrix.${key}`] = String(value);
  const runner = filled(job["runs-on"], values, label);
  const folder = join(world.work, label.replace(/\W+/g, "-"));
  // Each job begins on a fresh machine, also when it is started again.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const here = matrix.platform === undefined || matrix.platform === world.platform;
  const environment = world.environment(job.permissions, job.environment);
  for (const [at, step] of job.steps.entries()) {
    const where = `${label}, step ${at + 1} (${step.name ?? step.uses ?? "run"})`;
    demandKnown("step", step, where);
    const fill = (text) => filled(text, values, where);
    if (step.if !== undefined && !holds(step.if, runner, where)) continue;
    if (step.uses !== undefined) {
      world.log(`${where}: ${step.uses}`);
      act(step, { fill, folder, where, world, platform: here ? undefined : matrix.platform, permissions: job.permissions });
    } else if (here) {
      world.log(where);
      run(step, { fill, folder, where, runner, environment });
    } else {
      // Its artifact stands in for what it would have made.
      world.log(`${where}: left out, this machine is ${world.platform}`);
      shellOf(step, runner, where);
      fill(step.run);
    }
  }
}

function holds(condition, runner, where) {
  const match = /^runner\.os == '(Linux|macOS|Windows)'$/.exec(condition);
  if (match === null) throw new Stopped(`${where}: the condition \`${condition}\` is not known here`);
  return runner.startsWith({ Linux: "ubuntu-", macOS: "macos-", Windows: "windows-" }[match[1]]);
}

function act(step, context) {
  const [name, version] = step.uses.split("@");
  if (!/^[0-9a-f]{40}$/.test(version ?? "")) {
    throw new Stopped(`${context.where}: an action is named by the digest of its commit; found \`${step.uses}\``);
  }
  const action = ACTIONS[name];
  if (action === undefined) throw new Stopped(`${context.where}: there is no stand-in for \`${name}\``);
  const given = Object.fromEntries(Object.entries(step.with ?? {}).map(([key, value]) => [key, context.fill(value)]));
  const unknown = Object.keys(given).filter((key) => !action.takes.includes(key));
  if (unknown.length > 0) throw new Stopped(`${context.where}: \`${unknown.join("`, `")}\` is not known here`);
  try {
    action.perform(given, context);
  } catch (error) {
    throw new Stopped(`${context.where}: ${error.message}`);
  }
}

/** The words that run a script: what the runner takes where nothing is said differs between systems. */
function shellOf(step, runner, where) {
  if (step.shell === "bash") return ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"];
  if (step.shell !== undefined) throw new Stopped(`${where}: the shell \`${step.shell}\` is not known here`);
  if (runner.startsWith("windows-")) throw new Stopped(`${where}: on Windows a script is for PowerShell unless it says \`shell: bash\``);
  return ["bash", "-e", "-c"];
}

function run(step, { fill, folder, where, runner, environment }) {
  const [program, ...words] = shellOf(step, runner, where);
  const own = Object.fromEntries(Object.entries(step.env ?? {}).map(([key, value]) => [key, fill(value)]));
  const cwd = join(folder, fill(step["working-directory"] ?? "."));
  const env = { ...environment, ...own };
  const end = spawnSync(program, [...words, fill(step.run)], { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (end.status !== 0) {
    const said = `${end.stdout}${end.stderr}`.trim().split("\n").slice(-25).join("\n  | ");
    throw new Stopped(`${where}: exit code ${end.status ?? end.signal ?? end.error}\n  | ${said}`);
  }
}
