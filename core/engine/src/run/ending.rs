//! What a person reads when a run stops: what happened, where the report is, how to continue.

use crate::error::{CommandError, ErrorKind};
use crate::notify;
use crate::run::advice::{self, next_commands, resume_command};
use crate::run::context::{Halt, RunContext};
use crate::run::forks;
use crate::run::gate::facts;
use crate::run::options::RunOptions;
use crate::run::review;
use crate::run::telemetry;
use crate::state::store::{Store, StoreError};
use onloop_documents as documents;
use onloop_effect::{Exit, FailureKind, Io};
use onloop_run::preflight::{IsolationMode, foreign_paths};
use onloop_run::{Next, Question, Refusal, Run, RunStatus, exceeded, render_summary, usage_line};
use onloop_syntax::text;
use onloop_workflow::CommitWhen;

/// How driving a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// The exit code.
    pub exit: Exit,
    /// The run that this process drove; `None`: no run.
    pub id: Option<String>,
    /// Whether its pull request is to be opened, or followed further.
    pub pull_request_is_due: bool,
}

impl RunEnd {
    /// The end of this process, without anything to do about a pull request.
    pub(crate) fn of(exit: Exit, id: Option<String>) -> RunEnd {
        RunEnd { exit, id, pull_request_is_due: false }
    }
}

/// Prints the state of the run and returns its exit code.
///
/// # Errors
///
/// The run could not continue.
pub(crate) async fn tell(cx: &RunContext<'_>, halt: Halt) -> Result<Exit, CommandError> {
    let RunContext { io, store, options, .. } = cx;
    Ok(match halt {
        Halt::Failed(error) => return Err(failure(store, error)),
        Halt::Refused(refusal) => return Err(bug(store, &refusal)),
        Halt::Interrupted => {
            io.note(format!("Interrupted; the record is saved.\n{}", next_commands(store.run())))
                .await;
            tell_report(io, store).await;
            Exit::Interrupted
        }
        Halt::Stopped | Halt::Again => {
            let exit = tell_rest(io, store, options).await;
            telemetry::export(io, store).await;
            exit
        }
    })
}

fn failure(store: &Store, error: StoreError) -> CommandError {
    let advice = match &error {
        StoreError::Failed(failure) => match failure.kind {
            // What the disk holds is read again, whichever it is.
            FailureKind::Unknown => "look at the disk",
            FailureKind::Full => "make room on the disk",
            FailureKind::Denied => "make the state home writable",
            FailureKind::NotFound
            | FailureKind::Exists
            | FailureKind::Conflict
            | FailureKind::TooLarge
            | FailureKind::Invalid
            | FailureKind::Busy
            | FailureKind::Closed
            | FailureKind::Interrupted
            | FailureKind::Unsupported
            | FailureKind::Other => "fix that",
        },
        StoreError::Missing | StoreError::Unreadable(_) | StoreError::Overtaken(_) => {
            "look at the run"
        }
        // It says itself how to continue.
        StoreError::Changed { .. } => return error.into(),
    };
    CommandError::from(error).context("the run could not continue").fix_by(
        format!("nothing recorded is lost; {advice}, then continue"),
        resume_command(store.run()),
    )
}

fn bug(store: &Store, refusal: &Refusal) -> CommandError {
    let resume = resume_command(store.run());
    CommandError::new(ErrorKind::Bug, "onloop has a bug: it refused its own next step")
        .because(refusal.to_string())
        .fix_by(
            format!(
                "nothing recorded is lost; report it at {}/issues with the file that this writes",
                env!("CARGO_PKG_REPOSITORY")
            ),
            format!("ONLOOP_TRACE=trace.jsonl {resume}"),
        )
}

/// The exit code of a verb that drives `run` and leaves it as it is.
pub(super) fn exit_of_run(run: &Run) -> Exit {
    match &run.status {
        RunStatus::Completed | RunStatus::ReadyToFinish => Exit::Done,
        RunStatus::Paused | RunStatus::Running => Exit::Paused,
        RunStatus::Blocked | RunStatus::Abandoned => Exit::Failed,
    }
}

async fn tell_rest(io: &Io, store: &Store, options: &RunOptions) -> Exit {
    let run = store.run();
    let exit = exit_of_run(run);
    if options.is_part && exit == Exit::Done {
        return exit;
    }
    let whole = forks::reserved(io, run, options).await;
    let whole = whole.as_ref().unwrap_or(run);
    if options.json {
        io.result(format!("{:#}\n", documents::summary::summary(run))).await;
    } else {
        io.note("").await;
        io.result(render_summary(whole, options.platform)).await;
    }
    io.note_wrapped(
        &format!(
            "
{}",
            state_line(whole)
        ),
        2,
    )
    .await;
    if let Some(findings) = review::findings(run) {
        io.note(findings).await;
    }
    if let Next::Ask(Question::Gate { step } | Question::Review { step, .. }) = run.next()
        && let Some(facts) = facts(io, store.run(), step).await
    {
        io.note(facts.to_string().trim_end()).await;
    }
    if let Some(used) = usage_line(run) {
        io.note(format!("Used by agents: {used}")).await;
    }
    if exit != Exit::Done {
        // The fork that a limit leaves no attempt waits, and not its run.
        let is_for_budget = exit == Exit::Paused
            && run.fork_of.is_none()
            && !matches!(run.next(), Next::Ask(_))
            && !exceeded(whole).is_empty();
        io.note(match is_for_budget {
            true => advice::budget_commands(whole),
            false => next_commands(whole),
        })
        .await;
    }
    match (exit, &run.fork_of) {
        (Exit::Done, Some(_)) => io.note(next_commands(run)).await,
        (Exit::Done, None) => tell_place(io, run).await,
        (_, _) => {}
    }
    tell_report(io, store).await;
    notify::deliver(io, store).await;
    exit
}

/// How the run stands, with its id and the reason.
fn state_line(run: &Run) -> String {
    let id = &run.id;
    match run.next() {
        Next::Blocked(blocker) if blocker.rejected => {
            format!("Rejected: {} ({id})", blocker.reason)
        }
        Next::Blocked(blocker) => {
            format!("Blocked at step {} ({id})\n  {}", blocker.step, blocker.reason)
        }
        Next::Finished => match (run.status, run.unchecked_line()) {
            (RunStatus::Completed, Some(unchecked)) => format!("Completed, {unchecked} ({id})"),
            (status, _) => format!("Run {} ({id})", status.as_str()),
        },
        Next::Ask(question) => {
            format!("Waiting for you: {} ({id})", advice::reason(run, &question))
        }
        Next::Start { .. }
        | Next::Act { .. }
        | Next::Verify { .. }
        | Next::Approve { .. }
        | Next::Block { .. }
        | Next::Review { .. }
        | Next::Repeat
        | Next::Finalize => match &run.pause_reason {
            Some(reason) => format!("Paused: {reason} ({id})"),
            None => format!("Paused ({id})"),
        },
    }
}

async fn tell_report(io: &Io, store: &Store) {
    io.note(format!("Report: {}", store.paths().report())).await;
}

/// Where the finished work is, and what a merge by hand would miss.
async fn tell_place(io: &Io, run: &Run) {
    let Some(branch) = &run.place.branch else { return };
    if run.place.executor_mode == IsolationMode::None.as_str() {
        return;
    }
    let root = run.place.worktree_path.as_ref().unwrap_or(&run.place.execution_root);
    io.note(format!("Work: branch {branch} in {root}")).await;
    let Ok(survey) = io.git_survey(root, branch).await else { return };
    let dirty = survey.repository.map(|repository| repository.dirty).unwrap_or_default();
    let below = run.place.workflow_path.strip_prefix(root.as_str()).unwrap_or_default();
    let files = foreign_paths(&dirty, below.trim_start_matches('/')).len();
    if files > 0 {
        io.note_wrapped(&uncommitted_line(run, files), 2).await;
    }
}

/// Says that verified work is not committed yet, and how that is done.
fn uncommitted_line(run: &Run, files: usize) -> String {
    let them = if files == 1 { "it" } else { "them" };
    let how = match run.owns_branch() && run.settings.commit != CommitWhen::Never {
        true => format!("`onloop finish {} merge` commits {them}", run.id),
        false => format!("commit {them} there before a merge"),
    };
    format!("Not committed yet: {}; {how}", text::counted(files as u64, "file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::exit_of;
    use crate::run::forks::Forks;
    use crate::run::options::DriveArgs;
    use crate::sandbox::choice::Sandbox;
    use crate::state::store::Store;
    use onloop_agents::Agent;
    use onloop_documents::ledger::Origin;
    use onloop_effect::{Durability, Expect};
    use onloop_run::{Beginning, Event, Place};
    use onloop_syntax::limits;
    use onloop_testing::MemoryHost;
    use onloop_workflow as workflow;

    const FILE: &str = "---\nintent: Try\nsuccess_criteria: It works\nrisk_level: low\n---\n\n\
        - [ ] **Step 1: Go**\naction: go\nloop: false\nverify: true\n";

    async fn begin(io: &Io) -> Store {
        let parsed = workflow::parse("hotl-workflow-try.md", FILE.as_bytes());
        let plan = parsed.plan.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
        let place = Place { execution_root: "w".to_owned(), ..Place::default() };
        let beginning = Beginning {
            id: "try-20260320T212315Z".to_owned(),
            place,
            at: io.now(),
            reverify: true,
            ..Beginning::default()
        };
        let run = Run::begin(&plan, beginning);
        Store::create(io, run, &Origin::Begun, None).await.expect("memory takes all")
    }

    #[test]
    fn a_refusal_without_another_process_is_an_internal_error() {
        let mut host = MemoryHost::default();
        let exit = host.run(async |io| {
            let mut store = begin(&io).await;
            assert!(!store.was_changed_since(store.revision()).await.expect("it is readable"));
            let args = DriveArgs::default();
            let timeouts = args.timeouts().expect("none is given");
            let off = Sandbox::Off { why: "a test".to_owned(), chosen: true };
            let options = args.applied(&io, store.run(), vec![Agent::Script], timeouts, off);
            let halt = Halt::Refused(Refusal::NoSuchStep { step: 7 });
            let forks = Forks::default();
            let cx = RunContext { io: &io, store: &mut store, options: &options, forks };
            exit_of(&io, tell(&cx, halt).await).await
        });
        assert_eq!(exit, Exit::Bug);
        let said = host.stderr;
        assert!(said.starts_with("error: onloop has a bug: "), "{said}");
        assert!(said.contains(&format!("cause: {}\n", Refusal::NoSuchStep { step: 7 })), "{said}");
        let command = "\n    ONLOOP_TRACE=trace.jsonl onloop resume try-20260320T212315Z\n";
        assert!(said.ends_with(command), "{said}");
    }

    #[test]
    fn a_ledger_whose_earlier_lines_were_changed_is_noticed() {
        let mut host = MemoryHost::default();
        host.run(async |io| {
            let mut store = begin(&io).await;
            let path = store.paths().ledger();
            store
                .apply(Event::RunPaused { reason: "later".to_owned(), interrupted: false })
                .expect("it runs");
            store.commit().await.expect("memory takes all");
            store.demand_unchanged().await.expect("nothing was changed");
            let (mut bytes, _) = io.read(&path, limits::RECORD_BYTES).await.expect("it is there");
            bytes[20] ^= 1;
            let (any, relaxed) = (Expect::Any, Durability::Relaxed);
            io.write(&path, bytes, any, relaxed).await.expect("memory takes all");
            let error = store.demand_unchanged().await.unwrap_err();
            assert!(error.to_string().contains("damaged ledger: line 1: "), "{error}");
            Exit::Done
        });
    }

    #[test]
    fn a_record_that_another_process_changed_is_recognised_before_and_after_the_merge() {
        let mut host = MemoryHost::default();
        host.run(async |io| {
            let mut ours = begin(&io).await;
            let revision = ours.revision();
            let mut theirs = Store::open(&io, "try-20260320T212315Z").await.expect("begun");
            theirs
                .apply(Event::RunPaused { reason: "later".to_owned(), interrupted: false })
                .expect("it runs");
            theirs.commit().await.expect("memory takes all");
            ours.apply(Event::TakenOver { reason: "mine".to_owned() }).expect("it may be");
            assert!(ours.was_changed_since(revision).await.expect("it is readable"));
            ours.commit().await.expect("both fit");
            assert!(ours.was_changed_since(revision).await.expect("it is readable"));
            assert!(!ours.was_changed_since(ours.revision()).await.expect("it is readable"));
            Exit::Done
        });
    }
}
