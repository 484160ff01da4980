//! A plan as a workflow of GitHub Actions.
//!
//! Each job is a machine of its own that begins with a clone: it fetches the run, takes it further and
//! pushes it, so that the next job, or the same job run again, continues there.

use super::jobs::{CompiledJob, jobs};
use super::on_label;
use super::yaml::{block, comment, shown, word};
use onloop_syntax::text;
use onloop_workflow::graph::{is_sequence, step_list};
use onloop_workflow::{OperatingSystem, Plan, Step};

/// The version of `actions/checkout`, and the commit that it was when it was looked at.
const CHECKOUT: &str = "actions/checkout@08eba0b27e820071cde6df949e0beb9ba4906955 # v4.3.0";

/// The onloop that jobs install: the one that compiles.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is to become a workflow of GitHub Actions.
pub(super) struct Compilation<'a> {
    pub(super) plan: &'a Plan,
    /// The workflow file, from the top of the repository.
    pub(super) file: &'a str,
    pub(super) agent: Option<&'a str>,
    pub(super) agent_command: Option<&'a str>,
    /// A shell line that installs the agent.
    pub(super) install: Option<&'a str>,
    /// Secrets of the repository that the agent gets.
    pub(super) secrets: &'a [String],
    /// The operating system of the machines that jobs run on.
    pub(super) system: OperatingSystem,
    pub(super) runs_on: &'a str,
    /// The label that starts it.
    pub(super) on_label: Option<&'a str>,
}

/// Git reaches the repository with the token of the job only in steps that ask for it: no agent finds
/// it in the configuration of the clone.
const SIGN_IN: &str = r#"GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$GH_TOKEN" | base64 | tr -d '\n')"
GIT_CONFIG_KEY_0="http.$GITHUB_SERVER_URL/.extraheader"
GIT_CONFIG_COUNT=1
export GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0
"#;

/// The steps' own variable for the token.
const TOKEN: &str = "GH_TOKEN: ${{ github.token }}";

/// The scripts below are for `bash`, which is not the default shell there.
const WINDOWS_SHELL: &str = "
defaults:
  run:
    shell: bash
";

const FETCH: &str = "onloop fetch --yes -- \"$RUN\"\n";

/// The next approver reads the report; a summary of a job has at most a megabyte.
const PUSH: &str = r#"onloop push -- "$RUN"
onloop report "$RUN" | head -c 900000 >> "$GITHUB_STEP_SUMMARY"
"#;

/// The whole document.
pub(super) fn workflow(wanted: &Compilation<'_>) -> String {
    let jobs = jobs(wanted.plan);
    let mut out = head(wanted);
    let mut before: Option<CompiledJob> = None;
    if let Some(label) = wanted.on_label {
        out += &on_label::job(label, wanted.runs_on);
        out.push('\n');
    }
    for (at, job) in jobs.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        // It stops at the next decision, or at a later one where it continues a run.
        let later = jobs[at..].iter().filter_map(|job| match job {
            CompiledJob::Gate { step } => Some(*step),
            CompiledJob::Steps { .. } | CompiledJob::End => None,
        });
        let gates: Vec<u32> = later.collect();
        let ends = (at == 0, at + 1 == jobs.len());
        out += &job_head(wanted, *job, before, ends);
        out += &match job {
            CompiledJob::Gate { step } => gate_steps(*step, &environment(wanted.plan, *step)),
            CompiledJob::Steps { .. } | CompiledJob::End => {
                let place = Place { is_first: at == 0, gates, is_last: at + 1 == jobs.len() };
                work_steps(wanted, place)
            }
        };
        before = Some(*job);
    }
    out
}

/// What is left to do in the settings of the repository.
pub(super) fn advice(wanted: &Compilation<'_>, out: Option<&str>) -> String {
    let count = jobs(wanted.plan).len() as u64;
    let mut lines = match out {
        Some(out) => format!("Wrote {} ({}).", text::one_line(out), text::counted(count, "job")),
        None => format!("{} of a workflow of GitHub Actions.", text::counted(count, "job")),
    };
    let gates: Vec<String> = jobs(wanted.plan)
        .into_iter()
        .filter_map(|job| match job {
            CompiledJob::Gate { step } => Some(environment(wanted.plan, step)),
            CompiledJob::Steps { .. } | CompiledJob::End => None,
        })
        .collect();
    if !gates.is_empty() {
        lines += "\nA gate waits for a person only where its environment has required reviewers.\n\
                  Set them in the repository (Settings, Environments), before the first run:";
        gates.iter().for_each(|gate| lines += &format!("\n  {gate}"));
    }
    if wanted.on_label.is_some() {
        lines += "\nA job opens a pull request only where the repository lets it (Settings, Actions,\n\
                  General: Allow GitHub Actions to create and approve pull requests).";
    }
    lines
}

fn head(wanted: &Compilation<'_>) -> String {
    let (name, file) = (plain(&wanted.plan.slug), comment(wanted.file));
    let title = shown(&format!("onloop: {}", wanted.plan.slug));
    let shell = match wanted.system {
        OperatingSystem::Linux | OperatingSystem::Macos => "",
        OperatingSystem::Windows => WINDOWS_SHELL,
    };
    let graph = graph(wanted.plan);
    let trigger = if wanted.on_label.is_some() { on_label::TRIGGER } else { "" };
    format!(
        "# Made by onloop {VERSION} from {file}.
# What is changed here is lost when it is made again:
#   onloop compile FILE --to github --out THIS_FILE
# The run, its record and its work, is below refs/onloop/ of this repository.
{graph}name: {title}

on:
  workflow_dispatch:
    inputs:
      run:
        description: Id of a run to continue; empty begins a new one
        required: false
        type: string
{trigger}
permissions: {{}}

# Two machines on one run would each have a part of it; the second one could not push.
concurrency:
  group: onloop-{name}-${{{{ inputs.run || github.run_id }}}}
  cancel-in-progress: false

env:
  # The same when a job is run again, so that it continues.
  RUN: ${{{{ inputs.run || format('{name}-gh-{{0}}', github.run_id) }}}}
{shell}
jobs:
"
    )
}

/// What steps need, where a run with a worktree has several at work at once.
fn graph(plan: &Plan) -> String {
    if plan.max_parallel < 2 || is_sequence(&plan.steps) {
        return String::new();
    }
    let most = plan.max_parallel;
    let mut out =
        format!("# At most {most} steps are at work at once within a job. What they need:\n");
    for step in &plan.steps {
        out += &format!("#   step {}: {}\n", step.number, step_list(&step.depends_on()));
    }
    out
}

fn job_head(
    wanted: &Compilation<'_>,
    job: CompiledJob,
    before: Option<CompiledJob>,
    (is_first, is_last): (bool, bool),
) -> String {
    let (key, name) = (job.key(), shown(&title(wanted.plan, job)));
    let mut out = format!("  {key}:\n    name: {name}\n");
    let guard = wanted.on_label.map(|_| on_label::KEY.to_owned());
    if let Some(needed) = before.map(CompiledJob::key).or(guard) {
        out += &format!("    needs: {needed}\n");
    }
    out += &format!("    runs-on: {}\n", shown(wanted.runs_on));
    out += "    permissions:\n      contents: write\n";
    if wanted.on_label.is_some() {
        out += if is_first { on_label::READ_ISSUE } else { "" };
        out += if is_last { on_label::OPEN_PULL_REQUEST } else { "" };
    }
    if let CompiledJob::Gate { step } = job {
        // Who approved is in the history of the workflow run.
        out += "      actions: read\n";
        out += &format!("    environment: {}\n", environment(wanted.plan, step));
    }
    out + "    steps:\n" + &checkout() + &install(VERSION)
}

fn title(plan: &Plan, job: CompiledJob) -> String {
    let name = |step: u32| {
        let found: Option<&Step> = plan.steps.iter().find(|found| found.number == step);
        found.map_or("", |step| step.name.as_str())
    };
    match job {
        CompiledJob::Steps { from, to } if from == to => format!("Step {from}: {}", name(from)),
        CompiledJob::Steps { from, to } => format!("Steps {from} to {to}: {} …", name(from)),
        CompiledJob::Gate { step } => format!("Gate of step {step}: {}", name(step)),
        CompiledJob::End => "End of the run".to_owned(),
    }
}

fn checkout() -> String {
    format!(
        "      - name: Check out
        uses: {CHECKOUT}
        with:
          persist-credentials: false
"
    )
}

fn install(version: &str) -> String {
    step(
        "Install onloop",
        &[],
        &format!("npm install --global --no-fund --no-audit onloop@{version}\n"),
    )
}

/// A step that runs a script, with these lines before it.
fn step(name: &str, lines: &[&str], script: &str) -> String {
    let mut out = format!("      - name: {name}\n");
    lines.iter().for_each(|line| out += &format!("        {line}\n"));
    out + "        run: |\n" + &block(script, 10)
}

/// A step that reaches the repository.
fn signed_in(name: &str, lines: &[&str], script: &str) -> String {
    let token = format!("  {TOKEN}");
    let lines = [lines, &["env:", &token]].concat();
    step(name, &lines, &format!("{SIGN_IN}{script}"))
}

/// Where a job stands among the others.
struct Place {
    is_first: bool,
    /// The steps at whose gates it may stop.
    gates: Vec<u32>,
    is_last: bool,
}

fn work_steps(wanted: &Compilation<'_>, place: Place) -> String {
    let mut out = String::new();
    if let Some(line) = wanted.install {
        out += &step("Install the agent", &[], &format!("sh -e -c {}\n", word(line)));
    }
    // Only the first one may find that there is none, and begins it.
    let fetch = match place.is_first {
        true => "onloop fetch --if-any --yes -- \"$RUN\"\n",
        false => FETCH,
    };
    out += &signed_in("Fetch the run", &[], fetch);
    if wanted.on_label.is_some() && place.is_first {
        let token = format!("  {TOKEN}");
        let lines = ["env:", &token, on_label::ISSUE];
        out += &step("Read the issue", &lines, on_label::ISSUE_SCRIPT);
    }
    let secrets: Vec<String> =
        wanted.secrets.iter().map(|name| format!("  {name}: ${{{{ secrets.{name} }}}}")).collect();
    let mut lines: Vec<&str> = Vec::new();
    if !secrets.is_empty() {
        lines.push("env:");
        lines.extend(secrets.iter().map(String::as_str));
    }
    out += &step("Run", &lines, &run_script(wanted, &place));
    if place.is_last {
        out += &match wanted.on_label {
            None => signed_in("Publish the branch", &[], &publish("publish")),
            Some(_) => signed_in("Open the pull request", &[], &publish("pr")),
        };
    }
    out + &signed_in("Push the run", &["if: ${{ always() }}"], PUSH)
}

/// Commits are made by who makes them on GitHub.
const COMMITTER: &str = r#"GIT_AUTHOR_NAME='github-actions[bot]'
GIT_AUTHOR_EMAIL='41898282+github-actions[bot]@users.noreply.github.com'
GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME
GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
"#;

/// Publishes the branch in one of the ways of `onloop finish`.
fn publish(how: &str) -> String {
    format!(
        "{COMMITTER}onloop status \"$RUN\" --json | grep -q '\"disposition\": \"published\"' ||\n  \
         onloop finish \"$RUN\" {how} --remote origin\n"
    )
}

fn run_script(wanted: &Compilation<'_>, Place { is_first, gates, .. }: &Place) -> String {
    let has_issue = wanted.on_label.is_some() && *is_first;
    let mut line = format!(
        "onloop run --run-id=\"$RUN\" --plan-digest {} --mode worktree --branch \"hotl/$RUN\"",
        wanted.plan.digest
    );
    if let Some(agent) = wanted.agent {
        line += &format!(" --agent {}", word(agent));
    }
    if let Some(command) = wanted.agent_command {
        line += &format!(" --agent-command {}", word(command));
    }
    if has_issue {
        line = format!("{}{line} \"$@\"", on_label::ISSUE_WORDS);
    }
    line += &format!(" -- {}", word(wanted.file));
    if gates.is_empty() {
        return format!("{line}\n");
    }
    let waiting: Vec<String> = gates.iter().map(|step| asks(*step)).collect();
    format!(
        "code=0
{line} || code=$?
# It waits: for a gate that a later job is about, or for something else.
if [ \"$code\" = 3 ]; then
  case $(onloop next --run-id=\"$RUN\" | head -n 1) in
    {}) code=0 ;;
  esac
fi
exit \"$code\"
",
        waiting.join(" | ")
    )
}

/// What `onloop next` says where a person decides about a step, as patterns of a shell.
fn asks(step: u32) -> String {
    format!("'ask-gate (step {step})' | 'ask-review (step {step})'")
}

/// The environment has been approved when a job of it starts, and GitHub knows by whom.
fn gate_steps(step_number: u32, environment: &str) -> String {
    let query = format!(
        "[.[] | select(.state == \"approved\") | select(any(.environments[]; .name == \
         \"{environment}\")) | .user.login] | last // empty"
    );
    let script = format!(
        "reviewer=$(gh api \"repos/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID/approvals\" --jq {}) || reviewer=
if [ -n \"$reviewer\" ]; then
  USER=\"$reviewer (GitHub)\"
else
  USER=\"started by $GITHUB_TRIGGERING_ACTOR (GitHub)\"
fi
export USER
# Twice: a review and a gate of one step are two decisions. None: it was run again.
for _ in 1 2; do
  case $(onloop next --run-id=\"$RUN\" | head -n 1) in
    {})
      onloop gate {step_number} approved --run-id=\"$RUN\" ;;
  esac
done
",
        word(&query),
        asks(step_number)
    );
    let token = format!("  {TOKEN}");
    signed_in("Fetch the run", &[], FETCH)
        + &step("Record the decision", &["env:", &token], &script)
        + &signed_in("Push the run", &[], PUSH)
}

fn environment(plan: &Plan, step: u32) -> String {
    format!("onloop-{}-step-{step}", plain(&plan.slug))
}

/// A name of letters, digits and `-`, as part of names that GitHub, git and onloop accept.
fn plain(slug: &str) -> String {
    let sign = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = slug.chars().take(60).map(sign).collect();
    match name.trim_matches('-') {
        "" => "workflow".to_owned(),
        name => name.to_owned(),
    }
}
