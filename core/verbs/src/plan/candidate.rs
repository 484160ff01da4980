//! A drafted workflow as it is now: its findings, what its checks say, and how people see it.

use std::collections::BTreeSet;

use crate::plan::source::Source;
use onloop_effect::{FileKind, Io};
use onloop_engine::error::CommandError;
use onloop_engine::run::trial::{Baseline, Trial, try_checks};
use onloop_engine::run::unprotected::{protection_hint, suggested_protection};
use onloop_run::describe_check;
use onloop_run::preflight::foreign_paths;
use onloop_syntax::diagnostic::{Diagnostic, LineIndex, Severity, human};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::{self as workflow, Check, Expectation, Gate, Loop, Plan, ShellCheck, Step};

/// A draft that was looked at.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Its content.
    pub(super) bytes: Vec<u8>,
    /// What it says, if it has no errors.
    pub(super) plan: Option<Plan>,
    diagnostics: Vec<Diagnostic>,
    trial: Trial,
    /// The line that would protect what its checks depend on.
    protection: Option<String>,
    /// Tasks of the source that no step names.
    missing: Vec<String>,
    /// Other files that the agent changed.
    strays: Vec<String>,
}

/// Something that an agent can be told about its draft.
pub(super) struct Finding {
    /// On one line.
    pub(super) words: String,
    /// Whether it may be as it should be, and is told once.
    pub(super) is_doubtful: bool,
}

impl Candidate {
    /// A draft that nothing has tried, because of `why`.
    pub(super) fn untried(path: &str, bytes: Vec<u8>, why: &str) -> Candidate {
        let parsed = workflow::parse(path, &bytes);
        Candidate {
            bytes,
            plan: parsed.plan,
            diagnostics: parsed.diagnostics,
            trial: Trial::NotTried(why.to_owned()),
            protection: None,
            missing: Vec::new(),
            strays: Vec::new(),
        }
    }

    /// Reads the draft `file` at the top of the checkout `root`, which is to be called `path`, and tries
    /// its checks there. `made` are files that checks have made or changed there before.
    ///
    /// # Errors
    ///
    /// It is not a file that can be read, or the person interrupted.
    pub(super) async fn look(
        io: &Io,
        (root, file): (&str, &str),
        (path, source): (&str, Option<&Source>),
        made: &mut BTreeSet<String>,
    ) -> Result<Candidate, CommandError> {
        let draft = format!("{root}/{file}");
        // A link could lead anywhere, and what it leads to would be shown to the agent.
        if io.stat(&draft).await?.kind != FileKind::File {
            return Err(CommandError::failed(format!("the draft `{draft}` is not a plain file")));
        }
        let (bytes, _) = io.read(&draft, limits::WORKFLOW_BYTES as u64).await?;
        let mut candidate = Candidate::untried(path, bytes, "the draft has errors");
        let strays = changed(io, root, file).await?.into_iter();
        candidate.strays = strays.filter(|path| !made.contains(path)).collect();
        if let Some(plan) = &candidate.plan {
            candidate.missing = missing(plan, source);
            let checks: Vec<&ShellCheck> = commands(plan).map(|(_, check)| check).collect();
            candidate.trial = match candidate.strays.is_empty() {
                true => {
                    let trial = try_checks(io, root, &checks).await?;
                    made.extend(changed(io, root, file).await?);
                    trial
                }
                false => Trial::NotTried("the agent changed other files".to_owned()),
            };
            let opened = match &candidate.trial {
                Trial::Tried { opened, .. } => opened.clone(),
                Trial::NotTried(_) => BTreeSet::new(),
            };
            candidate.protection = suggested_protection(io, root, plan, &opened).await;
        }
        Ok(candidate)
    }

    /// What there is to improve, the certain first.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let certain = |words: String| Finding { words, is_doubtful: false };
        let index = LineIndex::new(&self.bytes);
        let mut findings: Vec<Finding> = Vec::new();
        for found in &self.diagnostics {
            let (line, ..) = index.first_line(found.span);
            let help = found.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
            let severity = found.severity.as_str();
            findings.push(certain(format!("line {line}: {severity}: {}{help}", found.message)));
        }
        let strays = self.strays.iter().take(limits::DIRTY_FILES_LISTED);
        findings.extend(strays.map(|path| {
            certain(format!("`{}` was changed; restore it, and write only the draft", path))
        }));
        let missing = self.missing.iter();
        findings.extend(missing.map(|task| Finding {
            words: format!("no step names task {task}"),
            is_doubtful: true,
        }));
        for ((step, check), said) in self.tried() {
            if let Baseline::CannotRun { why, .. } = said {
                let command = text::one_line(&check.command);
                findings.push(Finding {
                    words: format!(
                        "step {}: `{command}` cannot run now: {why}. Change it, unless an earlier \
                         step makes what it needs",
                        step.number
                    ),
                    is_doubtful: true,
                });
            }
        }
        findings
    }

    /// The checks that were tried, and what they said.
    fn tried(&self) -> impl Iterator<Item = ((&Step, &ShellCheck), &Baseline)> {
        let said = match &self.trial {
            Trial::Tried { said, .. } => said.as_slice(),
            Trial::NotTried(_) => &[],
        };
        self.plan.iter().flat_map(commands).zip(said)
    }

    /// The errors, with their source lines; empty without one.
    pub(super) fn errors(&self, io: &Io, path: &str) -> String {
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        let errors: Vec<Diagnostic> = self.diagnostics.iter().filter(is_error).cloned().collect();
        if errors.is_empty() {
            return String::new();
        }
        let terminal = io.start().terminal;
        let columns = usize::from(terminal.columns);
        human::render(path, &self.bytes, &errors, terminal.stderr, columns)
    }

    /// The steps with every command that a run would start, for a person who decides.
    pub(super) fn table(&self) -> String {
        let Some(plan) = &self.plan else { return String::new() };
        let steps = text::counted(plan.steps.len() as u64, "step");
        let mut out = format!(
            "\n{}\n  {steps}, {} risk; done when: {}\n",
            text::one_line(&plan.intent),
            plan.risk.as_str(),
            text::one_line(&plan.success_criteria)
        );
        for line in &plan.setup {
            out += &format!("  setup   {}\n", text::one_line(line));
        }
        let mut tried = self.tried().map(|(_, said)| said);
        for step in &plan.steps {
            let attempts = match &step.repeat {
                Loop::Never => String::new(),
                Loop::Until { limit, .. } => format!(" (up to {limit} attempts)"),
            };
            out += &format!("\n  {}  {}{attempts}\n", step.number, text::one_line(&step.name));
            if let Some(script) = &step.script {
                for line in text::printable(script.text.trim_end()).lines() {
                    out += &format!("       script  {line}\n");
                }
            }
            for check in &step.checks {
                out += &check_lines(check, &mut tried);
            }
            if step.gate == Some(Gate::Human) {
                out += "       gate    a person approves\n";
            }
            if step.checks.is_empty() && step.gate != Some(Gate::Human) {
                out += "       ○ no check\n";
            }
        }
        if let Trial::NotTried(why) = &self.trial
            && commands(plan).next().is_some()
        {
            out += &format!("\nThe checks were not tried: {}.\n", text::one_line(why));
        }
        for task in &self.missing {
            out += &format!("Not in the plan: task {task}\n");
        }
        if let Some(line) = &self.protection {
            out += &format!("\n{}\n", protection_hint(line));
        }
        out
    }
}

/// The files of the checkout `root` that are not as they were committed, apart from the draft.
async fn changed(io: &Io, root: &str, draft: &str) -> Result<Vec<String>, CommandError> {
    let repository = io.git_survey(root, "main").await?.repository;
    let dirty = repository.map(|repository| repository.dirty).unwrap_or_default();
    Ok(foreign_paths(&dirty, draft).into_iter().map(str::to_owned).collect())
}

/// A check as rows of the table; a command with what it says now.
fn check_lines<'b>(check: &Check, tried: &mut impl Iterator<Item = &'b Baseline>) -> String {
    let Check::Shell(shell) = check else {
        return format!("       check   {}\n", text::one_line(&describe_check(check)));
    };
    let expected = match shell.expect {
        Expectation::Pass => "",
        Expectation::Fail => "  (expected to fail)",
    };
    let command = text::printable(shell.command.trim_end()).replace('\n', "\n               ");
    let mut out = format!("       check   {command}{expected}\n");
    if let Some(said) = tried.next() {
        let now = match said {
            Baseline::Passes => "passes".to_owned(),
            Baseline::Fails { how, .. } => format!("fails ({how})"),
            Baseline::CannotRun { why, .. } => format!("cannot run: {}", text::one_line(why)),
        };
        out += &format!("       now     {now}\n");
    }
    out
}

/// The commands of all checks, each with its step.
fn commands(plan: &Plan) -> impl Iterator<Item = (&Step, &ShellCheck)> {
    plan.steps.iter().flat_map(|step| {
        step.checks.iter().filter_map(move |check| match check {
            Check::Shell(shell) => Some((step, shell)),
            Check::Browser { .. } | Check::HumanReview { .. } | Check::Artifact { .. } => None,
        })
    })
}

/// The tasks that no step names by their labels, as text for people.
fn missing(plan: &Plan, source: Option<&Source>) -> Vec<String> {
    let text: Vec<String> =
        plan.steps.iter().map(|step| format!("{} {}", step.name, step.action)).collect();
    let text = text.join(" ");
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '#' | '.');
    let words: Vec<&str> =
        text.split(|c| !is_word(c)).map(|word| word.trim_end_matches('.')).collect();
    let tasks = source.into_iter().flat_map(|source| &source.tasks);
    let absent = tasks.filter(|task| !words.contains(&task.label.as_str()));
    absent.map(|task| format!("{}: {}", task.label, text::ellipsis(&task.words, 100))).collect()
}
