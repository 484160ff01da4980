//! The baseline of a task: what its checks say in the worktree before any agent works.

use crate::error::CommandError;
use crate::run::adopt::adopt;
use crate::run::begin::parse_plan;
use crate::run::change::change;
use crate::run::checks::recorded;
use crate::run::include::include_changes;
use crate::run::options::RunOptions;
use crate::run::processes::{Work, WorkError, run_recorded};
use crate::run::setup::{Readiness, make_ready};
use crate::run::start::TaskRun;
use crate::state::store::Store;
use onloop_effect::{Durability, Expect, Io, ProcessEnd, ProcessSpec, ProcessStatus, Shell};
use onloop_run::{Event, Worker, runner_report, step_line};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::{ShellCheck, Task};

/// What a check says before the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// It passes already, so it cannot show that the work was done.
    Passes,
    /// It fails, with the last lines of its output.
    Fails {
        /// How it ended.
        how: String,
        /// The last lines.
        output: String,
    },
    /// It cannot say anything, and why.
    CannotRun {
        /// Why.
        why: String,
        /// The last lines of its output.
        output: String,
    },
}

/// Sets the worktree of a task up, runs each check once and records which ones pass. If all pass, the
/// run gets a gate at its end.
///
/// # Errors
///
/// A check cannot run, or changes cannot be included, and the run is abandoned; or the person interrupted.
pub(super) async fn prepare_task(
    io: &Io,
    store: &mut Store,
    options: &RunOptions,
    TaskRun { task, includes_changes, .. }: TaskRun<'_>,
) -> Result<(), CommandError> {
    if includes_changes {
        include_changes(io, store).await?;
    }
    match make_ready(io, store, &options.checks.sandbox).await? {
        Readiness::Ready => {}
        Readiness::Interrupted => return Err(CommandError::interrupted()),
        // The loop that drives the run tries again, and pauses it with the reason.
        Readiness::Failed(_) => return Ok(()),
    }
    let mut passed = Vec::new();
    for (index, check) in (0..).zip(&task.checks) {
        let shown = text::ellipsis(check, 60);
        match try_check(io, store, options, check).await? {
            Baseline::Passes => {
                passed.push(index);
                io.note(format!("Baseline: `{shown}` passes now")).await;
            }
            Baseline::Fails { how, output } => {
                io.note(format!("Baseline: `{shown}` fails now ({how})\n{output}")).await;
            }
            Baseline::CannotRun { why, output } => {
                let reason = format!("the check `{shown}` cannot run: {why}");
                change(io, store, Event::RunAbandoned { reason: reason.clone() }).await?;
                return Err(CommandError::failed(reason)
                    .because(output.trim())
                    .fix("install what it needs, or name another check with --verify COMMAND"));
            }
        }
    }
    if passed.len() == task.checks.len() && !task.gate {
        add_gate(io, store, task).await?;
    }
    store.apply(Event::StepStarted { step: 1 })?;
    let run = store.run();
    let line = step_line(run, run.step(1).expect("a task has one step"));
    store.note(line);
    store.apply(Event::BaselineTaken { step: 1, passed })?;
    Ok(store.commit().await?)
}

/// Ends the run at a gate, since its checks cannot show that the task was done.
async fn add_gate(io: &Io, store: &mut Store, task: &Task) -> Result<(), CommandError> {
    io.note(
        "warning: all checks pass already, so they cannot show that the task is done.\n\
         The run will end at a gate, where a person decides.",
    )
    .await;
    let workflow = Task { gate: true, ..task.clone() }.workflow().into_bytes();
    let place = &store.run().place;
    let path = place.workflow_path.clone();
    for file in [Some(&path), place.source_workflow_path.as_ref()].into_iter().flatten() {
        io.write(file, workflow.clone(), Expect::Any, Durability::Durable).await?;
    }
    let (plan, _) = parse_plan(io, &path).await?;
    adopt(store, &plan).await
}

/// Runs a check once as the run will, and its processes are recorded as those of the run.
async fn try_check(
    io: &Io,
    store: &mut Store,
    options: &RunOptions,
    command: &str,
) -> Result<Baseline, CommandError> {
    let timeout_ms = options.checks.timeout_ms;
    let spec = ProcessSpec::shell(Shell::Bash, command)
        .in_folder(store.run().place.execution_root.clone())
        .timeout_ms(timeout_ms)
        .label(format!("Baseline: {}", text::ellipsis(command, 60)));
    let work = Work::new(Worker::Check, 1, &options.checks.sandbox);
    let end = match run_recorded(io, store, work, spec).await {
        Ok(end) => end,
        Err(WorkError::Process(failure)) => return Err(failure.into()),
        Err(WorkError::Record(error)) => return Err(error.into()),
    };
    judged(io, &ShellCheck::new(command), timeout_ms, &end)
}

/// What the end of a command says before the work.
pub(super) fn judged(
    io: &Io,
    check: &ShellCheck,
    timeout_ms: u64,
    end: &ProcessEnd,
) -> Result<Baseline, CommandError> {
    let (stdout, stderr) = (recorded(&end.stdout), recorded(&end.stderr));
    let report = runner_report(&check.command, &[&stdout, &stderr]);
    let output = io.redacted(&text::printable(format!("{stdout}\n{stderr}").trim()));
    let output = text::quoted_end(&output, limits::FAILURE_LINES, "above these");
    let cannot_run =
        |why: &str| Baseline::CannotRun { why: why.to_owned(), output: output.clone() };
    let how = match end.status {
        ProcessStatus::Interrupted => return Err(CommandError::interrupted()),
        ProcessStatus::Exited(126 | 127) => return Ok(cannot_run("command not found")),
        _ if report.ran_none() => return Ok(cannot_run("no tests ran")),
        // What `!` turns round has to have failed because of the code.
        ProcessStatus::Exited(0) if check.is_negated() && report.misuse.is_some() => String::new(),
        ProcessStatus::Exited(0) => return Ok(Baseline::Passes),
        ProcessStatus::Exited(code) => format!("exit code {code}"),
        ProcessStatus::Signalled(signal) => format!("killed by signal {signal}"),
        ProcessStatus::TimedOut => format!("timed out after {}", text::span(timeout_ms)),
    };
    if let Some(why) = report.misuse {
        return Ok(cannot_run(&why));
    }
    let how = match (report.counted, report.passed) {
        (Some((ran, passed)), Some(_)) if passed < ran => {
            format!("{} of {ran} tests fail", ran - passed)
        }
        _ => how,
    };
    Ok(Baseline::Fails { how, output })
}
