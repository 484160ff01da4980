//! What is left of a run whose pull request was merged on its server: branch and worktree go.

use super::context::{self, FinishContext};
use super::{Intended, acts, named, outcome_line, plan, verified};
use onloop_effect::Io;
use onloop_engine::error::CommandError;
use onloop_engine::run::driver_lock::while_driving;
use onloop_engine::state::store::{StateHome, Store};
use onloop_run::{Disposition, Event, FinishAct};
use onloop_syntax::limits;

/// Removes worktree and branch of run `id`, whose pull request was merged on its server. Where other
/// files than the verified ones would be lost, both stay, and a note says so.
///
/// # Errors
///
/// The record cannot be changed, or git fails half-way.
pub(crate) async fn remove_merged(io: &Io, id: &str) -> Result<(), CommandError> {
    let mut store = named(io, id).await?;
    let home = context::home(io, store.run()).await?;
    let lock = StateHome::of(io)?.finish_lock(&home);
    io.lock(&lock, limits::LOCK_WAIT_MS).await?;
    let removed = remove_alone(io, &mut store).await;
    let _ = io.unlock(&lock).await;
    removed
}

async fn remove_alone(io: &Io, store: &mut Store) -> Result<(), CommandError> {
    let intended = while_driving(io, store, async |store| intend_removal(io, store).await);
    let Some((context, intended)) = intended.await? else { return Ok(()) };
    let store = named(io, &store.run().id).await?;
    let commit = intended.intent.act.commit().map(str::to_owned);
    let store = Box::pin(acts::perform(io, store, &context, &intended)).await?;
    io.note(outcome_line(store.run(), commit.as_deref())).await;
    Ok(())
}

async fn intend_removal(
    io: &Io,
    store: &mut Store,
) -> Result<Option<(FinishContext, Intended)>, CommandError> {
    let run = store.run();
    let Some(context) = FinishContext::survey(io, run).await? else { return Ok(None) };
    if let Some(intent) = run.finish_intent.clone() {
        let is_ours = matches!(intent.act, FinishAct::Merge { pull_request: Some(_), .. });
        return Ok(is_ours.then_some((context, Intended { intent, earlier: true })));
    }
    let url = run.pull_request.as_ref().map(|tracked| tracked.url.clone());
    let outcome = run.finish.as_ref().map(|finish| finish.outcome.clone());
    let (Some(url), Some(commit), Some(outcome)) = (url, run.finished_commit.clone(), outcome)
    else {
        return Ok(None);
    };
    if !context.owns_branch || outcome.disposition != Disposition::Published {
        return Ok(None);
    }
    let untouched = verified::demand_untouched(io, store, &context).await;
    let objection = plan::worktree_objection(&context, Disposition::Merged);
    if let Err(error) = objection.map_or(untouched, Err) {
        io.note(error.context("worktree and branch of the merged work stay").render()).await;
        return Ok(None);
    }
    let target = outcome.target_branch.unwrap_or_else(|| "the target".to_owned());
    let act = FinishAct::Merge { commit, target, pull_request: Some(url) };
    store.apply(Event::FinishIntended { act, notes: outcome.notes, replace: true })?;
    store.commit().await?;
    let intent = store.run().finish_intent.clone();
    Ok(intent.map(|intent| (context, Intended { intent, earlier: false })))
}
