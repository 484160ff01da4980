//! A stop while background tasks of the agent run: the agent is not continued, because its client
//! wakes it when a task ends. A second hook, which no client waits for, bounds that wait.

use super::{HookContext, log, provider_wait, stop};
use onloop_effect::Exit;
use onloop_engine::session::files::{SessionError, Sessions};
use onloop_sessions::handsoff::{Session, SessionId};
use onloop_sessions::hooks::StopInput;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Until when the session waits for the tasks that run, if it does.
pub(super) async fn waits(
    context: &HookContext,
    sessions: &Sessions,
    session: &Session,
    stop: &StopInput,
) -> Result<Option<Timestamp>, SessionError> {
    // Most agents have no task, and their sessions know of none.
    if stop.tasks.is_empty() && session.tasks.is_empty() && session.tasks_since.is_none() {
        return Ok(None);
    }
    let running = ids(stop);
    let at = context.io.now();
    let (until, is_new) = sessions
        .change_known(&session.id, |session| {
            let waited = session.tasks_since.is_some();
            let until = session.waits_for_tasks(at, &running);
            (until, !waited && until.is_some())
        })
        .await?;
    if is_new {
        let about: Vec<String> =
            stop.tasks.iter().map(|task| text::one_line(&task.about)).collect();
        let about = text::ellipsis(&about.join(", "), 200);
        log::debug(context, &format!("waits for background tasks: {about}")).await;
    }
    Ok(until)
}

fn ids(stop: &StopInput) -> Vec<&str> {
    stop.tasks.iter().map(|task| task.id.as_str()).collect()
}

/// The hook that bounds the wait: judges the stop when the tasks had their time, and wakes the
/// client if the agent has to continue.
pub(super) async fn bounded(context: &HookContext, stop: &StopInput) -> Exit {
    let Some(id) = &context.session else { return Exit::Done };
    if !context.loaded.config.enabled || context.is_inner() || stop.tasks.is_empty() {
        return Exit::Done;
    }
    let sessions = context.sessions(id).await;
    match outlasted(context, &sessions, id, stop).await {
        Ok(false) => Exit::Done,
        Ok(true) => {
            log::debug(context, "its background tasks still run; it does not wait longer").await;
            let judged = match sessions.load(id).await {
                Ok(session) => stop::decide(context, &sessions, id, session, stop).await,
                Err(error) => Err(error),
            };
            provider_wait::woken(context, &sessions, id, judged).await
        }
        Err(error) => {
            log::debug(context, &format!("background tasks were not waited for: {error}")).await;
            Exit::Done
        }
    }
}

/// A prompt that no person typed, such as the news of a task that has ended, gives the agent work.
pub(super) async fn prompted(context: &HookContext, id: &SessionId) -> Result<(), SessionError> {
    let sessions = context.sessions(id).await;
    if sessions.load(id).await?.is_none_or(|session| session.tasks_since.is_none()) {
        return Ok(());
    }
    sessions.change_known(id, Session::waits_no_longer).await
}

/// Waits as long as the session does. Returns whether its tasks had their time, and this hook is the
/// first to see it.
async fn outlasted(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    stop: &StopInput,
) -> Result<bool, SessionError> {
    let Some(session) = sessions.load(id).await? else { return Ok(false) };
    let Some(until) = waits(context, sessions, &session, stop).await? else { return Ok(false) };
    let waits_still = |session: &Session| {
        // Files have whole seconds.
        let seconds = |at: Timestamp| at.as_millis().div_euclid(1000);
        session.tasks_until().is_some_and(|known| seconds(known) == seconds(until))
    };
    if !provider_wait::slept(context, sessions, id, until, waits_still).await? {
        return Ok(false);
    }
    let running = ids(stop);
    sessions
        .change_known(id, |session| {
            let waits = waits_still(session);
            if waits {
                session.tasks_had_their_time(&running);
            }
            waits
        })
        .await
}
