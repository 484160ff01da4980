//! The loop without an agent: a task that is a workflow is run, step by step, and the task
//! table gets the result.
//!
//! The order survives a crash at any point: the row says `in-progress` before the run begins
//! and changes again only after its record says how it ended. What is found in between is
//! decided by the record.

use onloop_auto::PROGRESS_PATH;
use onloop_auto::child::ChildOutcome;
use onloop_auto::progress::{TaskRow, TaskStatus, TaskTable, with_status};
use onloop_auto::record::Dispatch;
use onloop_auto::task::{TaskEnd, TaskResult, TasksLeft, finished_answer, workflow_path};
use onloop_effect::{Durability, Exit, Expect, Failure, FailureKind, Io, Version};
use onloop_engine::error::exit_of;
use onloop_engine::lookup::runs::{Found, find_all, is_of};
use onloop_engine::run::options::DriveArgs;
use onloop_engine::run::resume::{ResumeArgs, resume_run};
use onloop_engine::run::start::{RunArgs, run_workflow};
use onloop_run::preflight::OnExisting;
use onloop_run::{Run, RunStatus};
use onloop_syntax::limits;
use onloop_syntax::text;

/// How often a change to the task table is tried while others change it too.
const TRIES: usize = 5;

/// How workflows are run.
#[derive(Clone, Debug)]
pub(super) struct NativeLoop {
    /// Which agent does the steps, and for how long.
    pub(super) drive: DriveArgs,
}

/// Where the newest run of a workflow stands.
struct Latest {
    run: Run,
    report: String,
}

impl NativeLoop {
    /// Works on the next task. `None`: there is nothing that a workflow could do here.
    pub(super) async fn run(&self, io: &Io, dispatch: &Dispatch) -> Option<ChildOutcome> {
        let table = match read_progress(io).await {
            Ok((text, _)) => TaskTable::parse(&text),
            Err(failure) => return Some(failed(&failure)),
        };
        let task = match table.left() {
            TasksLeft::Task(task) => task,
            TasksLeft::Finished => return Some(ChildOutcome::Answered(finished_answer())),
            TasksLeft::Unclear => return None,
        };
        let path = workflow_path(&task.id);
        match io.canonical(&path).await {
            Ok(file) => Some(Box::pin(self.work_on(io, dispatch, task, &path, &file)).await),
            Err(failure) if failure.is_not_found() => None,
            Err(failure) => Some(failed(&failure)),
        }
    }

    /// Runs the workflow of a task at `path`, canonically `file`, or continues its run.
    async fn work_on(
        &self,
        io: &Io,
        dispatch: &Dispatch,
        task: &TaskRow,
        path: &str,
        file: &str,
    ) -> ChildOutcome {
        let before = latest(io, file).await;
        // A person has finished the run, or we crashed before we could write that down.
        if let Some(latest) = &before
            && is_completed(&latest.run)
            && matches!(task.status, TaskStatus::InProgress | TaskStatus::Blocked)
        {
            return conclude(io, task, latest, TaskEnd::Completed).await;
        }
        if let Err(failure) = write_status(io, &task.id, &TaskStatus::InProgress, None).await {
            return failed(&failure);
        }
        let unfinished = before.filter(|latest| !latest.run.status.is_finished());
        let exit = self.drive(io, dispatch, path, unfinished.as_ref()).await;
        let after = latest(io, file).await;
        let end = match exit {
            Exit::Done => TaskEnd::Completed,
            Exit::Failed => TaskEnd::Blocked,
            Exit::Paused => TaskEnd::Paused,
            Exit::Interrupted => return ChildOutcome::Cancelled,
            Exit::Usage | Exit::Refused | Exit::Bug | Exit::Custom(_) => {
                return refused(io, task, path, after).await;
            }
        };
        match after {
            Some(after) if end != TaskEnd::Completed || is_completed(&after.run) => {
                conclude(io, task, &after, end).await
            }
            Some(_) | None => {
                ChildOutcome::Failed(format!("no record tells how the run of `{path}` ended"))
            }
        }
    }

    async fn drive(
        &self,
        io: &Io,
        dispatch: &Dispatch,
        path: &str,
        unfinished: Option<&Latest>,
    ) -> Exit {
        // Standard output carries tokens and nothing else.
        let io = io.with_results_as_notes();
        let drive = self.drive.clone();
        let ended = match unfinished {
            Some(latest) => {
                let run = Some(latest.run.id.clone()).into();
                resume_run(&io, &ResumeArgs { run, drive, ..ResumeArgs::default() }).await
            }
            None => {
                let auto_approve =
                    dispatch.argument.split(' ').any(|flag| matches!(flag, "--auto" | "--no-hitl"));
                let args = RunArgs {
                    file: Some(path.to_owned()),
                    drive,
                    auto_approve,
                    // Tasks that build on each other share a branch.
                    on_existing: Some(OnExisting::Reuse),
                    ..RunArgs::default()
                };
                run_workflow(&io, &args).await
            }
        };
        exit_of(&io, ended.map(|end| end.exit)).await
    }
}

/// A run that never began leaves the row as it was.
async fn refused(io: &Io, task: &TaskRow, path: &str, after: Option<Latest>) -> ChildOutcome {
    let has_begun = after.is_some_and(|latest| !latest.run.status.is_finished());
    if !has_begun && let Err(failure) = write_status(io, &task.id, &task.status, None).await {
        return failed(&failure);
    }
    ChildOutcome::Failed(format!("the run of `{path}` was refused"))
}

/// Says in the task table how the task stands, and answers.
async fn conclude(io: &Io, task: &TaskRow, latest: &Latest, end: TaskEnd) -> ChildOutcome {
    let commit = match end {
        TaskEnd::Completed => commit_of(io, &latest.run).await,
        TaskEnd::Paused | TaskEnd::Blocked => None,
    };
    let written = write_status(io, &task.id, &end.status(), commit.as_deref()).await;
    let table = match written {
        Ok(text) => TaskTable::parse(&text),
        Err(failure) => return failed(&failure),
    };
    let (run, report) = (&latest.run.id, &latest.report);
    let result = TaskResult { id: &task.id, end, run, report };
    ChildOutcome::Answered(result.answer(table.left()))
}

/// The newest run of the workflow `file`.
async fn latest(io: &Io, file: &str) -> Option<Latest> {
    find_all(io).await.into_iter().filter_map(Found::into_store).find_map(|store| {
        let report = store.paths().report();
        is_of(store.run(), file).then(|| Latest { run: store.run().clone(), report })
    })
}

fn is_completed(run: &Run) -> bool {
    match run.status {
        RunStatus::Completed | RunStatus::ReadyToFinish => true,
        RunStatus::Running | RunStatus::Paused | RunStatus::Blocked | RunStatus::Abandoned => false,
    }
}

/// The commit that a run has left its work at, where it has made one.
async fn commit_of(io: &Io, run: &Run) -> Option<String> {
    let head = io.git_head(&run.place.execution_root).await.ok()??;
    let is_new = run.place.source_head.as_deref() != Some(head.as_str());
    is_new.then(|| text::prefix(&head, 10).to_owned())
}

async fn read_progress(io: &Io) -> Result<(String, Version), Failure> {
    let (bytes, version) = io.read(PROGRESS_PATH, limits::AUTO_FILE_BYTES).await?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::new(FailureKind::Invalid, format!("`{PROGRESS_PATH}` is not UTF-8"))
    })?;
    Ok((text, version))
}

/// Changes the status of a task; the task table as it is then.
async fn write_status(
    io: &Io,
    id: &str,
    status: &TaskStatus,
    commit: Option<&str>,
) -> Result<String, Failure> {
    let mut tries = 0;
    loop {
        let (text, version) = read_progress(io).await?;
        let Some(changed) = with_status(&text, id, status, commit) else {
            let message = format!("`{PROGRESS_PATH}` has no row of {id} with a cell for a status");
            return Err(Failure::new(FailureKind::Invalid, message));
        };
        if changed == text {
            return Ok(text);
        }
        let bytes = changed.clone().into_bytes();
        let expect = Expect::Version(version);
        tries += 1;
        match io.write(PROGRESS_PATH, bytes, expect, Durability::Durable).await {
            Ok(_) => return Ok(changed),
            Err(failure) if failure.is_conflict() && tries < TRIES => {}
            Err(failure) => return Err(failure),
        }
    }
}

fn failed(failure: &Failure) -> ChildOutcome {
    if failure.is_interrupted() {
        return ChildOutcome::Cancelled;
    }
    ChildOutcome::Failed(format!("the task could not be worked on: {failure}"))
}
