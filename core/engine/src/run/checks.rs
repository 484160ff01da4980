//! Evaluating checks: the part that an agent must not own.

mod artifact;
mod screenshot;
mod verdict;

use artifact::look_at_artifact;
use screenshot::screenshot;
use verdict::{CommandEnd, verdict, warnings};

use crate::error::CommandError;
use crate::run::changed_check::{Changes, Expected, Found};
use crate::run::clean_checkout::{self, CleanOutcome};
use crate::run::processes::{Work, WorkError, run_recorded};
use crate::sandbox::choice::Sandbox;
use crate::state::store::{Store, StoreError};
use onloop_agents::confine::refused_line;
use onloop_effect::{Capture, Failure, FailureKind, Io, Mechanism, ProcessSpec, ProcessStatus};
use onloop_run::{
    CheckResult, CheckVerdict, CheckWarnings, Event, Measured, Run, Warning, Worker,
    describe_check, is_machine_check,
};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Check, ShellCheck};

/// How checks are evaluated in this program.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Folder in which commands run and below which artifacts lie.
    pub(crate) root: String,
    /// Time limit of commands that have none of their own.
    pub(crate) timeout_ms: u64,
    /// Command that looks at pages, for `sh -c`; `None`: a person looks.
    pub(crate) browser_checker: Option<String>,
    /// How commands are confined.
    pub(crate) sandbox: Sandbox,
}

impl CheckOptions {
    /// The same, without the caches that an agent can have written.
    async fn with_fresh_caches(&self, io: &Io) -> CheckOptions {
        CheckOptions { sandbox: self.sandbox.with_fresh_caches(io).await, ..self.clone() }
    }

    /// How this process evaluates the checks of `run`.
    pub(crate) fn of(io: &Io, run: &Run, timeout_ms: u64, sandbox: Sandbox) -> CheckOptions {
        CheckOptions {
            root: run.place.execution_root.clone(),
            timeout_ms,
            browser_checker: io.env("ONLOOP_BROWSER_CHECKER").map(str::to_owned),
            sandbox,
        }
    }

    /// How this process evaluates them for somebody who drives the run step by step; to be
    /// [ended](CheckOptions::end).
    ///
    /// # Errors
    ///
    /// As `Sandbox::decide`.
    pub async fn step_by_step(io: &Io, run: &Run) -> Result<CheckOptions, CommandError> {
        let sandbox = Sandbox::of(io, run).await?;
        Ok(CheckOptions::of(io, run, limits::VERIFY_TIMEOUT_MS, sandbox))
    }

    /// Removes what was made for them.
    pub async fn end(self, io: &Io) {
        self.sandbox.end(io).await;
    }
}

/// Results of a verification, or that the person interrupted it.
#[derive(Debug)]
pub enum Verification {
    /// Every check was evaluated, up to the first that failed.
    Finished(Vec<CheckResult>),
    /// Nothing is known.
    Interrupted,
}

/// A check that is being evaluated.
struct Place<'c> {
    step: u32,
    /// Its index among the checks of the step.
    index: usize,
    /// What people see meanwhile.
    label: String,
    options: &'c CheckOptions,
    /// The folder in which it is evaluated.
    root: &'c str,
    /// The files whose opening counts; `None`: it does not matter.
    expected: Option<&'c Expected>,
}

/// Why there is no verdict.
enum NoVerdict {
    Interrupted,
    Failed(StoreError),
}

/// Evaluates every check of `step`, which the run has, up to the first that fails. A check that
/// needs a person is only noted here: a person is not asked about what a machine then refuses, and no
/// check is skipped because one before it needs a person.
///
/// # Errors
///
/// When it cannot be recorded which processes check; they have been ended.
pub async fn verify_step(
    io: &Io,
    store: &mut Store,
    step: u32,
    options: &CheckOptions,
) -> Result<Verification, StoreError> {
    let record = store.run().step(step).expect("callers name steps that exist").clone();
    let checks = &record.step.checks;
    let mut results: Vec<CheckResult> = Vec::with_capacity(checks.len());
    let changes = Changes::before(io, store, step).await;
    for (index, check) in checks.iter().enumerate() {
        if let Some(known) = record.results.iter().find(|result| result.check as usize == index)
            && record.is_stale()
            && !store.run().is_repeated(step, check)
        {
            results.push(known.clone());
            continue;
        }
        let label = format!("Step {step}: verify{}", of_several(index, checks.len()));
        let root = &options.root;
        let expected = changes.expected(io, store.run(), check, root).await;
        let place = Place { step, index, label, options, root, expected: Some(&expected) };
        let mut evaluated = match evaluate(io, store, check, &place).await {
            Ok(evaluated) => evaluated,
            Err(NoVerdict::Interrupted) => return Ok(Verification::Interrupted),
            Err(NoVerdict::Failed(error)) => return Err(error),
        };
        let ends = is_refusal(&evaluated.verdict);
        if !ends {
            tell_passed(io, &evaluated, check, (index, checks.len())).await;
        }
        let opened = evaluated.opened.take();
        let found = match ends {
            // What failed is looked at anyway.
            true => Found::default(),
            false => {
                let mut found = changes.found(io, store.run(), check, &expected, opened).await;
                found.warnings.append(&mut evaluated.warnings);
                with_baseline(store.run(), (step, index), found)
            }
        };
        results.push(evaluated.result(index, io.now(), found));
        if ends {
            break;
        }
    }
    Ok(Verification::Finished(results))
}

/// Evaluates the machine checks of a step before its agent runs for the first time. Returns what is to
/// be recorded; `None` when interrupted.
///
/// # Errors
///
/// As [`verify_step`].
pub async fn take_baseline(
    io: &Io,
    store: &mut Store,
    step: u32,
    options: &CheckOptions,
) -> Result<Option<Event>, StoreError> {
    let record = store.run().step(step).expect("callers name steps that exist").clone();
    let checks = &record.step.checks;
    let mut passed = Vec::new();
    for (index, check) in checks.iter().enumerate().filter(|(_, check)| is_machine_check(check)) {
        let label = format!("Step {step}: baseline{}", of_several(index, checks.len()));
        let place = Place { step, index, label, options, root: &options.root, expected: None };
        match evaluate(io, store, check, &place).await {
            Ok(evaluated) if evaluated.verdict == CheckVerdict::Passed => passed.push(index as u32),
            Ok(_) => {}
            Err(NoVerdict::Interrupted) => return Ok(None),
            Err(NoVerdict::Failed(error)) => return Err(error),
        }
    }
    Ok(Some(Event::BaselineTaken { step, passed }))
}

/// `found`, and whether the check passed before the agent had done anything.
fn with_baseline(run: &Run, (step, index): (u32, usize), mut found: Found) -> Found {
    let baseline = run.step(step).and_then(|record| record.baseline.as_ref());
    if baseline.is_some_and(|passed| passed.contains(&(index as u32))) {
        found.warnings.push(Warning::PassedBefore);
    }
    found
}

/// Repeats the machine checks of all steps, except those that were expected to fail: they
/// describe the moment before the work, not its result. Where it is asked for, they run on a clean
/// checkout. Returns what is to be recorded; `None` when interrupted.
///
/// # Errors
///
/// As [`verify_step`].
pub async fn repeat_checks(
    io: &Io,
    store: &mut Store,
    options: &CheckOptions,
) -> Result<Option<Event>, StoreError> {
    if !clean_checkout::is_wanted(io, store.run()).await {
        return repeat_in(io, store, options, (&options.root, false)).await;
    }
    let options = options.with_fresh_caches(io).await;
    match clean_checkout::check_out(io, store, &options.sandbox).await? {
        CleanOutcome::Ready(checkout) => {
            let repeated = repeat_in(io, store, &options, (&checkout.root, true)).await;
            checkout.remove(io).await;
            repeated
        }
        CleanOutcome::Failed(why) => Ok(Some(without_checkout(store.run(), io.now(), &why))),
        CleanOutcome::Interrupted => Ok(None),
    }
}

/// The event of a run whose checks cannot run on a clean checkout.
fn without_checkout(run: &Run, at: Timestamp, why: &str) -> Event {
    let reason = format!("it could not be made: {why}");
    let evaluated = Evaluated::said(CheckVerdict::CannotEvaluate { reason }, String::new());
    let failures = vec![(run.last_step(), evaluated.result(0, at, Found::default()))];
    Event::ChecksRepeated { repeated: 0, failures, warnings: Vec::new(), clean: true }
}

/// Repeats the checks in the folder `root`, which is in a clean checkout or not.
async fn repeat_in(
    io: &Io,
    store: &mut Store,
    options: &CheckOptions,
    (root, clean): (&str, bool),
) -> Result<Option<Event>, StoreError> {
    let mut repeated = 0;
    let (mut failures, mut remarked) = (Vec::new(), Vec::new());
    let changes = Changes::now(io, store).await;
    let steps: Vec<(u32, Vec<Check>)> = store
        .run()
        .steps
        .iter()
        .map(|record| (record.step.number, record.step.checks.clone()))
        .collect();
    for (step, checks) in steps {
        for (index, check) in checks.iter().enumerate() {
            if !store.run().is_repeated(step, check) {
                continue;
            }
            repeated += 1;
            let place = if clean { " on a clean checkout" } else { "" };
            let label =
                format!("Step {step}: verify again{place}{}", of_several(index, checks.len()));
            let expected = changes.expected(io, store.run(), check, root).await;
            let place = Place { step, index, label, options, root, expected: Some(&expected) };
            let mut evaluated = match evaluate(io, store, check, &place).await {
                Ok(evaluated) => evaluated,
                Err(NoVerdict::Interrupted) => return Ok(None),
                Err(NoVerdict::Failed(error)) => return Err(error),
            };
            if is_refusal(&evaluated.verdict) {
                failures.push((step, evaluated.result(index, io.now(), Found::default())));
                break;
            }
            tell_passed(io, &evaluated, check, (index, checks.len())).await;
            let opened = evaluated.opened.take();
            let mut found = changes.found(io, store.run(), check, &expected, opened).await;
            found.warnings.append(&mut evaluated.warnings);
            let Found { warnings, inputs } = with_baseline(store.run(), (step, index), found);
            let check = index as u32;
            let known = known_result(store.run(), step, check);
            if known.is_some_and(|known| known.warnings != warnings || known.inputs != inputs) {
                remarked.push(CheckWarnings { step, check, warnings, inputs });
            }
        }
    }
    Ok(Some(Event::ChecksRepeated { repeated, failures, warnings: remarked, clean }))
}

/// Which of several checks it is.
fn of_several(index: usize, count: usize) -> String {
    if count > 1 { format!(" ({}/{count})", index + 1) } else { String::new() }
}

/// What takes less is not worth a line of its own.
const SILENT_MS: u64 = 1000;

/// Prints the progress of a long list where there is no status line.
async fn tell_passed(
    io: &Io,
    evaluated: &Evaluated,
    check: &Check,
    (index, count): (usize, usize),
) {
    let took_ms = evaluated.measured.map_or(0, |measured| measured.duration_ms);
    if count < 2 || took_ms < SILENT_MS || io.start().terminal.stderr {
        return;
    }
    let what = text::ellipsis(&text::one_line(&describe_check(check)), 100);
    let took = took_ms as f64 / 1000.0;
    io.note(format!("    ✓ {}/{count} {what} ({took:.1} s)", index + 1)).await;
}

/// What came of a check when it was evaluated before.
fn known_result(run: &Run, step: u32, check: u32) -> Option<&CheckResult> {
    run.step(step)?.results.iter().find(|result| result.check == check)
}

fn is_refusal(verdict: &CheckVerdict) -> bool {
    match verdict {
        CheckVerdict::Passed | CheckVerdict::NeedsHuman { .. } => false,
        CheckVerdict::Failed { .. } | CheckVerdict::CannotEvaluate { .. } => true,
    }
}

/// What came of one check.
struct Evaluated {
    verdict: CheckVerdict,
    stdout: String,
    stderr: String,
    measured: Option<Measured>,
    /// The observed files that were opened meanwhile; `None`: not observed.
    opened: Option<Vec<String>>,
    /// What its command and its output alone give cause to warn about.
    warnings: Vec<Warning>,
}

impl Evaluated {
    fn said(verdict: CheckVerdict, stdout: String) -> Evaluated {
        Evaluated {
            verdict,
            stdout,
            stderr: String::new(),
            measured: None,
            opened: None,
            warnings: Vec::new(),
        }
    }

    /// As the result of the check with this index.
    fn result(self, index: usize, at: Timestamp, found: Found) -> CheckResult {
        let Evaluated { verdict, stdout, stderr, measured, opened: _, warnings: _ } = self;
        let (check, at) = (index as u32, Some(at));
        let Found { warnings, inputs } = found;
        CheckResult { check, verdict, stdout, stderr, measured, at, warnings, inputs }
    }
}

async fn evaluate(
    io: &Io,
    store: &mut Store,
    check: &Check,
    place: &Place<'_>,
) -> Result<Evaluated, NoVerdict> {
    match check {
        Check::Shell(shell) => run_command(io, store, shell, place).await,
        Check::Artifact { path, assertion } => {
            Ok(look_at_artifact(io, place.root, path, assertion).await)
        }
        Check::HumanReview { prompt } => Ok(ask_for_review(prompt.clone())),
        Check::Browser { url, check } => look_at_page(io, store, url, check, place).await,
    }
}

fn ask_for_review(prompt: String) -> Evaluated {
    Evaluated::said(CheckVerdict::NeedsHuman { prompt }, String::new())
}

fn cannot(reason: String) -> Evaluated {
    Evaluated::said(CheckVerdict::CannotEvaluate { reason }, String::new())
}

async fn run_command(
    io: &Io,
    store: &mut Store,
    check: &ShellCheck,
    place: &Place<'_>,
) -> Result<Evaluated, NoVerdict> {
    if let Some(why) = check.not_for(io.start().system) {
        return Ok(cannot(why));
    }
    let timeout_ms = check.timeout_ms.unwrap_or(place.options.timeout_ms);
    let root = place.root;
    let cwd = match &check.cwd {
        None => root.to_owned(),
        Some(folder) => match inside(io, root, folder).await {
            Inside::At(path) => path,
            Inside::Absent => return Ok(cannot(format!("`cwd: {folder}` does not exist"))),
            Inside::Outside(why) => return Ok(cannot(format!("`cwd: {folder}` {why}"))),
        },
    };
    let spec = ProcessSpec::shell(check.shell, &check.command)
        .in_folder(cwd)
        .without_env(private_names(io))
        .with_env(check.env.clone())
        .timeout_ms(timeout_ms)
        .label(place.label.as_str());
    judge_command(io, store, place, spec, check).await
}

/// Runs a command that says by its exit code whether a check holds.
async fn judge_command(
    io: &Io,
    store: &mut Store,
    place: &Place<'_>,
    spec: ProcessSpec,
    check: &ShellCheck,
) -> Result<Evaluated, NoVerdict> {
    let timeout_ms = spec.timeout_ms.unwrap_or(place.options.timeout_ms);
    let work = Work::new(Worker::Check, place.step, &place.options.sandbox);
    let work = Work { network: check.network.clone(), folder: Some(place.root), ..work };
    let spec = match place.expected {
        Some(expected) => spec.observe(expected.observe.clone(), expected.renew),
        None => spec,
    };
    let end = match run_recorded(io, store, work, spec).await {
        Ok(end) => end,
        Err(WorkError::Process(failure)) if failure.is_interrupted() => {
            return Err(NoVerdict::Interrupted);
        }
        Err(WorkError::Process(failure)) if failure.kind == FailureKind::NotFound => {
            let shell = check.shell.as_str();
            return Ok(cannot(format!("cannot run it with `{shell}`: {}", failure.message)));
        }
        Err(WorkError::Process(failure)) => return Ok(cannot(failure.message)),
        Err(WorkError::Record(error)) => return Err(NoVerdict::Failed(error)),
    };
    // Told as shells tell a death by signal; what may be one is no answer.
    let (status, code) = match (end.status, end.confined) {
        (ProcessStatus::Exited(code @ 129..=159), Some(Mechanism::Bubblewrap)) => {
            (ProcessStatus::Signalled(code - 128), Some(code))
        }
        (status, _) => (status, None),
    };
    let (stdout, stderr) = (end.stdout.text(), end.stderr.text());
    let judged = CommandEnd { status, code, stdout: &stdout, stderr: &stderr, timeout_ms };
    let verdict = verdict(check, &judged).ok_or(NoVerdict::Interrupted)?;
    let warnings = warnings(check, &judged);
    let refused = refused_line(&end.refused);
    let verdict = naming(verdict, refused.as_deref());
    let exit_code = match status {
        ProcessStatus::Exited(code) => Some(code),
        ProcessStatus::Signalled(_) | ProcessStatus::TimedOut | ProcessStatus::Interrupted => None,
    };
    let measured = Some(Measured { exit_code, duration_ms: end.duration_ms });
    let (stdout, mut stderr) = (recorded(&end.stdout), recorded(&end.stderr));
    if let Some(line) = refused {
        let between = if stderr.is_empty() || stderr.ends_with('\n') { "" } else { "\n" };
        stderr += &format!("{between}{line}\n");
    }
    Ok(Evaluated { verdict, stdout, stderr, measured, opened: end.opened, warnings })
}

/// The verdict of a command with what it was refused.
fn naming(verdict: CheckVerdict, refused: Option<&str>) -> CheckVerdict {
    match (verdict, refused) {
        (CheckVerdict::Failed { reason }, Some(line)) => {
            CheckVerdict::Failed { reason: format!("{reason} ({line})") }
        }
        (verdict, _) => verdict,
    }
}

fn seconds(ms: u64) -> String {
    if ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{ms} ms") }
}

/// Output as the record keeps it: beginning and end.
pub(crate) fn recorded(capture: &Capture) -> String {
    let whole = capture.text();
    if whole.len() <= limits::RECORDED_OUTPUT_BYTES {
        return whole;
    }
    let half = limits::RECORDED_OUTPUT_BYTES / 2;
    let (head, tail) = (text::prefix(&whole, half), text::suffix(&whole, half));
    let omitted = capture.total_bytes.saturating_sub((head.len() + tail.len()) as u64);
    format!("{head}\n[… about {omitted} bytes not recorded …]\n{tail}")
}

/// Variables that commands of a repository must not see: ours, and those that would point
/// git somewhere else.
pub fn private_names(io: &Io) -> Vec<String> {
    const GIT: &[&str] = &[
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
    ];
    let ours = |name: &&String| {
        name.starts_with("ONLOOP_") || name.starts_with("HOTL_") || name.starts_with("HANDSOFF_")
    };
    let inherited = io.env_all().keys().filter(ours).cloned();
    inherited.chain(GIT.iter().map(|&name| name.to_owned())).collect()
}

/// Where a path below the root leads.
enum Inside {
    At(String),
    Absent,
    Outside(&'static str),
}

/// Follows links and makes sure that the path stays below the root.
async fn inside(io: &Io, root: &str, path: &str) -> Inside {
    let escapes = path.starts_with('/') || path.split(['/', '\\']).any(|part| part == "..");
    if escapes {
        return Inside::Outside("leads out of the execution root");
    }
    let joined = format!("{}/{path}", root.trim_end_matches('/'));
    match (io.canonical(root).await, io.canonical(&joined).await) {
        (Ok(root), Ok(found)) => {
            let below = found == root || found.starts_with(&format!("{root}/"));
            if below {
                Inside::At(found)
            } else {
                Inside::Outside("leads out of the execution root")
            }
        }
        // A file where the path needs a folder holds nothing either.
        (Ok(_), Err(Failure { kind: FailureKind::NotFound | FailureKind::Invalid, .. })) => {
            Inside::Absent
        }
        (Err(_), _) | (_, Err(_)) => Inside::Outside("cannot be followed"),
    }
}

async fn look_at_page(
    io: &Io,
    store: &mut Store,
    url: &str,
    check: &str,
    place: &Place<'_>,
) -> Result<Evaluated, NoVerdict> {
    let review = format!("browser verify requested for {url} - {check}");
    let Some(checker) = &place.options.browser_checker else {
        return Ok(match screenshot(io, store, url, place).await {
            Some(Ok(path)) => ask_for_review(format!("{review} (screenshot: {path})")),
            Some(Err(why)) => ask_for_review(format!("{review} (no screenshot: {why})")),
            None => ask_for_review(review),
        });
    };
    let spec = ProcessSpec::new(onloop_agents::command_line(checker))
        .in_folder(place.root)
        .without_env(private_names(io))
        .with_env([("BROWSER_CHECK_URL", url), ("BROWSER_CHECK_TEXT", check)])
        .timeout_ms(place.options.timeout_ms)
        .label(format!("page {url}"));
    judge_command(io, store, place, spec, &ShellCheck::new(checker)).await
}
