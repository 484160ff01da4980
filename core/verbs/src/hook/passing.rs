//! The model's service has refused the agent, and the client has given up: waits until it is worth
//! trying again, and wakes the client, where it takes that from a hook.
//!
//! A client that has exited cannot be woken. Then the session says until when there is nothing to
//! do, and a person continues it.

use super::{HookContext, log};
use onloop_agents::AgentErrorKind;
use onloop_effect::{Exit, Io};
use onloop_engine::notify;
use onloop_engine::notify::session::NotificationContext;
use onloop_engine::session::files::{SessionChange, SessionError, Sessions};
use onloop_sessions::handsoff::SessionId;
use onloop_sessions::handsoff::passing::{Patience, go_on, lifted_in};
use onloop_sessions::hooks::StopFailure;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The message to a client that takes the exit code for "continue".
const WAKE: Exit = Exit::Usage;

/// After a turn that failed.
pub(super) async fn failed(context: &HookContext, failure: &StopFailure) -> Exit {
    let Some(id) = &context.session else { return Exit::Done };
    if !context.loaded.config.enabled || context.is_inner() || !passes(failure) {
        return Exit::Done;
    }
    let sessions = context.sessions(id).await;
    match wait_out(context, &sessions, id, failure).await {
        Ok(Some(words)) => {
            context.io.note(words).await;
            WAKE
        }
        Ok(None) => Exit::Done,
        Err(error) => {
            log::debug(context, &format!("not waited for: {error}")).await;
            Exit::Done
        }
    }
}

/// Whether it may be better later.
fn passes(failure: &StopFailure) -> bool {
    let by_word = match failure.error.as_deref() {
        Some("rate_limit" | "overloaded" | "server_error" | "timeout" | "network") => Some(true),
        Some("authentication_failed" | "billing_error" | "invalid_request") => Some(false),
        Some(_) | None => None,
    };
    by_word.unwrap_or_else(|| {
        let kind = failure.message.as_deref().and_then(AgentErrorKind::of_message);
        matches!(
            kind,
            Some(AgentErrorKind::Limit | AgentErrorKind::Overloaded | AgentErrorKind::Network)
        )
    })
}

/// The message to an agent that continues; `None`: onloop does not continue it.
async fn wait_out(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    failure: &StopFailure,
) -> Result<Option<String>, SessionError> {
    if sessions.load(id).await?.is_none() {
        return Ok(None);
    }
    let io = &context.io;
    let (tail, _) = context.transcript().await;
    let lifted = lifted_in(&tail, io.now());
    let words =
        failure.message.as_deref().or(failure.error.as_deref()).unwrap_or("no reason given");
    let words = text::ellipsis(&text::one_line(words), 160);
    let why = format!("the model's service does not serve it: {words}");
    let at = io.now();
    let patience = sessions
        .change(id, |session| match session {
            Some(mut session) => {
                let patience = session.refused(at, &why, lifted);
                if matches!(patience, Some(Patience::TooLong(_))) {
                    notify::session::enqueue(&mut session, &context.loaded.config);
                }
                (SessionChange::when(patience.is_some(), session), patience)
            }
            None => (SessionChange::Keep, None),
        })
        .await?;
    let until = match patience {
        None => return Ok(None),
        Some(Patience::TooLong(_)) => {
            log::limit(context, &format!("{why}; no longer waiting")).await;
            let resume = context.host.resume_command(id.as_str());
            let left_ms = Some(context.time_left_ms());
            let place = NotificationContext {
                folder: &context.cwd,
                resume: &resume,
                time_left_ms: left_ms,
            };
            notify::session::deliver(io, &context.loaded.config, sessions, id, place).await?;
            return Ok(None);
        }
        Some(Patience::Until(until)) => until,
    };
    log::limit(context, &format!("{why}; waits until {}", until.to_rfc3339())).await;
    if !slept(context, sessions, id, until).await? {
        return Ok(None);
    }
    let at_end = io.now();
    let said = sessions
        .change(id, |session| match session {
            Some(mut session) if session.still_waits(until) => {
                session.served_again(at_end);
                let words = go_on(&session, at_end.millis_since(at));
                (SessionChange::Write(Box::new(session)), Some(words))
            }
            Some(_) | None => (SessionChange::Keep, None),
        })
        .await?;
    if said.is_some() {
        let waited = text::span(at_end.millis_since(at));
        log::limit(context, &format!("continues after {waited}")).await;
    }
    Ok(said)
}

/// Sleeps until then, unless the client is gone, somebody else does something with the session, or the
/// host would end us before. Whether it is time.
async fn slept(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    until: Timestamp,
) -> Result<bool, SessionError> {
    let io = &context.io;
    let client = client(io).await;
    loop {
        let left_ms = until.millis_since(io.now());
        if left_ms == 0 {
            return Ok(true);
        }
        let given_ms = context.time_left_ms().saturating_sub(limits::APPROVAL_MARGIN_MS);
        if left_ms > given_ms {
            log::limit(context, "the host ends a hook before that").await;
            return Ok(false);
        }
        if io.sleep(left_ms.min(limits::WAIT_LOOK_MS)).await.is_err() {
            return Ok(false);
        }
        let session = sessions.load(id).await?;
        if !session.is_some_and(|session| session.still_waits(until)) {
            return Ok(false);
        }
        if self::client(io).await != client {
            log::limit(context, "the client has exited; nobody can wake it").await;
            return Ok(false);
        }
    }
}

/// The processes above this one, where the system tells them: others once the
/// client is gone.
async fn client(io: &Io) -> Vec<u32> {
    let above = io.ancestors().await.unwrap_or_default();
    above.iter().map(|process| process.pid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_better_later_is_waited_for() {
        let table = [
            (Some("rate_limit"), "You've hit your limit · resets 12:16pm (UTC)", true),
            (Some("server_error"), "API Error: 529 Overloaded.", true),
            (Some("overloaded"), "", true),
            (Some("authentication_failed"), "usage limit", false),
            (Some("billing_error"), "Credit balance is too low", false),
            (Some("invalid_request"), "prompt is too long", false),
            (Some("unknown"), "API Error: Connection error.", true),
            (Some("unknown"), "API Error: 401 unauthorized", false),
            (None, "the model is overloaded", true),
            (None, "", false),
        ];
        for (error, message, expected) in table {
            let failure = StopFailure {
                error: error.map(str::to_owned),
                message: Some(message.to_owned()).filter(|message| !message.is_empty()),
            };
            assert_eq!(passes(&failure), expected, "{failure:?}");
        }
    }
}
