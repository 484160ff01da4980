//! The pull request of a completed run: opened, followed until its checks have passed, and repaired.
//!
//! The record has each change of its state before anything acts on it, so `onloop resume` continues
//! where a process was killed. Between two looks the driver sleeps; it holds the driver lock meanwhile.

mod feedback;
mod of_session;
mod watch;

use crate::finish::{self, DispositionWord, FinishArgs};
use crate::forge::Forge;
pub(crate) use of_session::{SessionRequest, of_session};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::run::advice::pull_request_commands;
use onloop_engine::run::change::change;
use onloop_engine::run::driver_lock::while_driving;
use onloop_engine::run::options::DriveArgs;
use onloop_engine::run::resume::{ResumeArgs, resume_run};
use onloop_engine::state::store::Store;
use onloop_run::{Event, PullRequestState, Run, RunStatus, TrackedPullRequest};
use onloop_syntax::text;
use watch::{Watched, watch};

/// Refuses to begin work whose pull request could not be opened.
///
/// # Errors
///
/// The program of the server is missing or not logged in.
pub(crate) async fn demand_forge(io: &Io) -> Result<(), CommandError> {
    let folder = &io.start().cwd;
    let forge = Forge::around(io, folder, Some("origin")).await;
    forge.is_ready(io, folder).await.or_else(|error| {
        let what = "no pull request could be opened at the end, so nothing was started";
        Err(forge.blamed(CommandError::refused(what).because(error.reason()?)))
    })
}

/// Brings the pull request of run `id` as far as that is possible without a person: publishes the work,
/// follows its checks, and lets the agent repair what fails.
///
/// # Errors
///
/// The work cannot be published, or the record cannot be changed.
pub(crate) async fn conclude(io: &Io, id: &str, drive: &DriveArgs) -> Result<Exit, CommandError> {
    loop {
        let watched = match is_merged(Store::open(io, id).await?.run()) {
            true => Watched::Merged,
            false => {
                publish(io, id).await?;
                let mut store = Store::open(io, id).await?;
                while_driving(io, &mut store, async |store| follow(io, store).await).await?
            }
        };
        match watched {
            Watched::Left => return tell(io, Store::open(io, id).await?.run()).await,
            Watched::Merged => {
                finish::remove_merged(io, id).await?;
                return tell(io, Store::open(io, id).await?.run()).await;
            }
            Watched::Returned => {
                let drive = DriveArgs { is_part: true, ..drive.clone() };
                let run = Some(id.to_owned()).into();
                let args = ResumeArgs { run, drive, ..ResumeArgs::default() };
                let end = resume_run(io, &args).await?;
                if end.exit != Exit::Done {
                    return Ok(end.exit);
                }
            }
        }
    }
}

/// Publishes verified work that is not published yet: with a new pull request, or to the one that it
/// has.
async fn publish(io: &Io, id: &str) -> Result<(), CommandError> {
    let store = Store::open(io, id).await?;
    let run = store.run();
    if run.finish.as_ref().is_some_and(|finish| finish.outcome.pr_url.is_some()) {
        return Ok(());
    }
    let args = match &run.pull_request {
        None => FinishArgs::new(id, DispositionWord::Pr),
        Some(tracked) => FinishArgs {
            pr_url: Some(tracked.url.clone()),
            remote: tracked.remote.clone(),
            target_branch: tracked.target_branch.clone(),
            message: tracked.repairs.last().map(|repair| format!("Repair: {}", repair.reason)),
            ..FinishArgs::new(id, DispositionWord::Publish)
        },
    };
    drop(store);
    let line = finish::carry_out(io, &args).await?;
    io.note(line).await;
    Ok(())
}

/// Follows the pull request, from now on if it was not followed yet.
async fn follow(io: &Io, store: &mut Store) -> Result<Watched, CommandError> {
    if store.run().pull_request.is_none() {
        let outcome = store.run().finish.as_ref().map(|finish| finish.outcome.clone());
        let url = outcome.and_then(|outcome| outcome.pr_url).unwrap_or_default();
        let repair_limit = store.run().settings.options.pr_repairs.unwrap_or_default();
        change(io, store, Event::PullRequestFollowed { url, repair_limit }).await?;
    }
    watch(io, store).await
}

/// Has onloop follow the pull request of published work, with at most `repair_limit` repairs.
///
/// # Errors
///
/// The work is not published with a pull request.
pub(crate) async fn begin(io: &Io, id: &str, repair_limit: u32) -> Result<(), CommandError> {
    let mut store = Store::open(io, id).await?;
    if is_merged(store.run()) {
        return Ok(());
    }
    let outcome = store.run().finish.as_ref().map(|finish| finish.outcome.clone());
    let Some(url) = outcome.and_then(|outcome| outcome.pr_url) else {
        return Err(CommandError::failed(format!("run `{id}` has no pull request"))
            .fix_by("open one", format!("onloop finish {id} pr")));
    };
    let followed = Event::PullRequestFollowed { url, repair_limit };
    while_driving(io, &mut store, async |store| change(io, store, followed).await).await
}

fn is_merged(run: &Run) -> bool {
    run.pull_request.as_ref().is_some_and(|tracked| tracked.state == PullRequestState::Merged)
}

/// Says how the pull request stands; its exit code.
async fn tell(io: &Io, run: &Run) -> Result<Exit, CommandError> {
    let Some(TrackedPullRequest { url, state, left, .. }) = &run.pull_request else {
        return Ok(Exit::Done);
    };
    let reason = left.as_deref().unwrap_or(state.as_words());
    io.note(format!("Pull request: {}: {url}", text::one_line(reason))).await;
    let commands = pull_request_commands(run);
    if !commands.is_empty() && run.status == RunStatus::Completed {
        io.note(commands).await;
    }
    Ok(match state {
        PullRequestState::Green | PullRequestState::Merged => Exit::Done,
        PullRequestState::Pending | PullRequestState::Red => Exit::Paused,
        PullRequestState::Closed => Exit::Failed,
    })
}
