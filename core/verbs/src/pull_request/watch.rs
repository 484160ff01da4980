//! Looking at a pull request until it is merged, its checks have passed, or something has to change.

use super::feedback::{self, Feedback};
use crate::forge::{Answer, Forge, Openness, ServerResult, Sighting};
use onloop_effect::Io;
use onloop_engine::error::CommandError;
use onloop_engine::run::change::change;
use onloop_engine::state::config;
use onloop_engine::state::store::Store;
use onloop_run::{Event, PullRequestState, Repair, RepairCause, Run};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::Risk;

/// How a watch ended.
pub(super) enum Watched {
    /// Nothing more is done without a person; the record says why.
    Left,
    /// It is merged; branch and worktree are still there.
    Merged,
    /// Work went back to the agent.
    Returned,
}

/// What one look at a pull request means.
enum Look {
    /// Checks run, or the server has not caught up.
    Pending,
    /// The checks that a merge needs passed.
    Green {
        /// Whether the server would merge it.
        may_merge: bool,
        /// Why it is looked at no longer.
        why: String,
    },
    Merged,
    Closed,
    /// Something has to change.
    Red(Feedback),
}

/// Looks until something has to happen, and records what that is.
pub(super) async fn watch(io: &Io, store: &mut Store) -> Result<Watched, CommandError> {
    let begun = io.now();
    let (mut pause_ms, mut failed) = (limits::PULL_REQUEST_LOOK_MS, 0);
    io.note(format!("Waiting for the checks of {}", url(store.run()))).await;
    loop {
        match look(io, store, begun.as_millis()).await {
            Ok(look) => {
                failed = 0;
                if let Some(watched) = settle(io, store, look).await? {
                    return Ok(watched);
                }
            }
            Err(error) => {
                let why = text::one_line(&error.reason()?);
                failed += 1;
                if failed == 1 {
                    io.note(format!("warning: {why}; it is tried again")).await;
                }
                if failed == limits::PULL_REQUEST_FAILED_LOOKS {
                    let reason = format!("its server does not answer: {why}");
                    return leave(io, store, text::ellipsis(&reason, 500)).await;
                }
                wait_for_limit(io, store).await?;
            }
        }
        let since = store.run().pull_request.as_ref().map_or(begun, |tracked| tracked.since);
        if io.now().millis_since(since.max(begun)) > limits::PULL_REQUEST_WAIT_MS {
            let waited = text::span(limits::PULL_REQUEST_WAIT_MS);
            return leave(io, store, format!("nothing has changed for {waited}")).await;
        }
        io.sleep(pause_ms).await?;
        pause_ms = (pause_ms * 2).min(limits::PULL_REQUEST_LOOK_MOST_MS);
    }
}

/// Waits until the server accepts requests again, where it says when that is.
async fn wait_for_limit(io: &Io, store: &Store) -> Result<(), CommandError> {
    let (forge, folder) = (Forge::of_address(io, &url(store.run())).await, folder(store.run()));
    let until = forge.limited_until(io, &folder, &url(store.run())).await?;
    let now_s = io.now().as_millis().max(0) as u64 / 1000;
    let Some(wait_s) = until.and_then(|until| until.checked_sub(now_s)) else { return Ok(()) };
    io.note(format!("Rate limited for {}", text::span(wait_s * 1000))).await;
    io.sleep(wait_s.saturating_mul(1000).min(limits::PULL_REQUEST_WAIT_MS)).await?;
    Ok(())
}

pub(super) fn url(run: &Run) -> String {
    run.pull_request.as_ref().map(|tracked| tracked.url.clone()).unwrap_or_default()
}

/// The folder in which the program of the server is started.
pub(super) fn folder(run: &Run) -> String {
    run.place.repo_root.clone().unwrap_or_else(|| run.place.execution_root.clone())
}

/// Asks the server once.
async fn look(io: &Io, store: &Store, begun_ms: i64) -> Answer<Look> {
    let run = store.run();
    let (url, folder) = (url(run), folder(run));
    let forge = Forge::of_address(io, &url).await;
    let seen = forge.look(io, &folder, &url).await?;
    match seen.openness {
        Openness::Merged => return Ok(Look::Merged),
        Openness::Closed => return Ok(Look::Closed),
        Openness::Open => {}
    }
    let looked_ms = u64::try_from(io.now().as_millis() - begun_ms).unwrap_or(0);
    let is_settling = looked_ms < limits::PULL_REQUEST_SETTLE_MS;
    if Some(&seen.commit) != run.finished_commit.as_ref() {
        return Ok(match is_settling {
            true => Look::Pending,
            false => Look::Red(Feedback::of_person("its branch has other commits on the server")),
        });
    }
    if seen.conflicts == Some(true) {
        return Ok(Look::Red(feedback::conflict(io, run).await?));
    }
    let failed: Vec<_> = seen.required(ServerResult::Failed).collect();
    if !failed.is_empty() {
        // The log of a job is there once it has ended; the others need not be waited for.
        return Ok(Look::Red(feedback::checks(io, run, &failed).await?));
    }
    if let Some(review) = feedback::reviews(io, run).await? {
        return Ok(Look::Red(review));
    }
    let may_appear = seen.is_blocked && looked_ms < limits::PULL_REQUEST_BLOCKED_MS;
    Ok(match may_appear || is_pending(&seen, is_settling) {
        true => Look::Pending,
        false => Look::Green { may_merge: !seen.is_blocked, why: passed(&seen) },
    })
}

/// Checks appear some time after a push: until then one that is optional may be the only one.
fn is_pending(seen: &Sighting, is_settling: bool) -> bool {
    let runs = seen.required(ServerResult::Pending).next().is_some();
    let appears = seen.checks.is_empty() || seen.optional(ServerResult::Pending).next().is_some();
    runs || seen.conflicts.is_none() || (is_settling && appears)
}

/// That the checks passed, with the optional ones that did not, and that the server refuses the merge.
fn passed(seen: &Sighting) -> String {
    let passed = of_checks(seen);
    match seen.is_blocked {
        true => format!("{passed}; the server blocks the merge for another reason"),
        false => passed,
    }
}

fn of_checks(seen: &Sighting) -> String {
    let failed = seen.optional(ServerResult::Failed);
    let failed: Vec<String> = failed.map(|check| text::one_line(&check.name)).collect();
    let checks = match failed.len() {
        0 => return PullRequestState::Green.as_reason().to_owned(),
        1 => "1 optional check fails".to_owned(),
        count => format!("{count} optional checks fail"),
    };
    let names = failed.join(", ");
    text::ellipsis(&format!("its required checks passed; {checks}: {names}"), 300)
}

/// Records what a look means; `None`: it is looked again.
async fn settle(io: &Io, store: &mut Store, look: Look) -> Result<Option<Watched>, CommandError> {
    match look {
        Look::Pending => Ok(None),
        Look::Green { may_merge: is_free, why } => {
            see(io, store, PullRequestState::Green, "").await?;
            if is_free && may_merge(io, store.run()).await && merge(io, store).await? {
                return Ok(None);
            }
            leave(io, store, why).await.map(Some)
        }
        Look::Merged => {
            see(io, store, PullRequestState::Merged, "").await?;
            leave(io, store, PullRequestState::Merged.as_reason().to_owned()).await?;
            Ok(Some(Watched::Merged))
        }
        Look::Closed => {
            see(io, store, PullRequestState::Closed, "").await?;
            leave(io, store, PullRequestState::Closed.as_reason().to_owned()).await.map(Some)
        }
        Look::Red(feedback) => red(io, store, feedback).await.map(Some),
    }
}

/// Gives the work back to the agent, or leaves it to a person with what was tried.
async fn red(io: &Io, store: &mut Store, found: Feedback) -> Result<Watched, CommandError> {
    see(io, store, PullRequestState::Red, &found.reason).await?;
    io.note(format!("Pull request: {}", text::one_line(&found.reason))).await;
    let run = store.run();
    let Some(tracked) = &run.pull_request else { return Ok(Watched::Left) };
    let commit = run.finished_commit.clone().unwrap_or_default();
    let is_same = |repair: &Repair| repair.commit == commit && repair.cause != RepairCause::Review;
    let rounds = tracked.repairs.len() - tracked.repairs_used() as usize;
    let why_not = match found.cause {
        None => Some(found.reason.clone()),
        Some(_) if tracked.repair_limit == 0 => Some(found.reason.clone()),
        Some(RepairCause::Review) => (rounds >= limits::PULL_REQUEST_REVIEW_ROUNDS)
            .then(|| format!("{}; {rounds} rounds of review were answered", found.reason)),
        Some(_) if tracked.repairs.last().is_some_and(is_same) => {
            Some(format!("{}; the last repair changed nothing", found.reason))
        }
        Some(_) if tracked.repairs_used() >= tracked.repair_limit => {
            let count = text::counted(tracked.repair_limit.into(), "repair");
            Some(format!("{} after {count}", found.reason))
        }
        Some(_) => None,
    };
    if let Some(why) = why_not {
        return leave(io, store, why).await;
    }
    let step = run.last_step();
    let Feedback { cause, reason, output, reviews } = found;
    let cause = cause.unwrap_or(RepairCause::Checks);
    let repair = Repair { cause, reason, commit, reviews };
    let output = io.redacted(&output);
    change(io, store, Event::PullRequestReturned { step, repair, output }).await?;
    Ok(Watched::Returned)
}

async fn see(
    io: &Io,
    store: &mut Store,
    state: PullRequestState,
    reason: &str,
) -> Result<(), CommandError> {
    if store.run().pull_request.as_ref().is_some_and(|tracked| tracked.state == state) {
        return Ok(());
    }
    let reason = text::one_line(reason);
    change(io, store, Event::PullRequestSeen { state, reason }).await
}

async fn leave(io: &Io, store: &mut Store, reason: String) -> Result<Watched, CommandError> {
    change(io, store, Event::PullRequestLeft { reason }).await?;
    Ok(Watched::Left)
}

/// Whether the developer's configuration lets onloop merge this work. The check of the risk and of
/// warnings is not the author's of the workflow to switch off.
async fn may_merge(io: &Io, run: &Run) -> bool {
    let is_clear = run.warning_lines(None).is_empty() && run.unchecked() == 0;
    let may = run.settings.risk != Risk::High && is_clear;
    may && config::own(io, &folder(run)).await.auto_merge
}

/// Merges on the server. One that refuses has a reason that a person reads.
async fn merge(io: &Io, store: &Store) -> Result<bool, CommandError> {
    let (url, folder) = (url(store.run()), folder(store.run()));
    let commit = store.run().finished_commit.clone().unwrap_or_default();
    match Forge::of_address(io, &url).await.merge(io, &folder, &url, &commit).await {
        Ok(()) => Ok(true),
        Err(error) => {
            let why = text::one_line(&error.reason()?);
            io.note(format!("warning: it was not merged: {why}")).await;
            Ok(false)
        }
    }
}
