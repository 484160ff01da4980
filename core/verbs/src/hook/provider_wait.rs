//! A client gave up because its provider refused the agent. onloop waits for a transient failure, then
//! wakes the client if a hook can. It continues an answer that was cut, and tells a person the rest.
//!
//! A client that has exited cannot be woken. The session then says until when it waits, and a person
//! continues it.

use super::{HookContext, log, stop};
use onloop_agents::AgentErrorKind;
use onloop_effect::{Exit, Io};
use onloop_engine::notify;
use onloop_engine::session::files::{SessionError, Sessions};
use onloop_sessions::handsoff::provider_wait::{ProviderWait, continuation, lifted_in};
use onloop_sessions::handsoff::{Session, SessionId, SessionState};
use onloop_sessions::hooks::{HookAnswer, StopFailure, StopInput};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// The message to a client that takes the exit code for "continue".
const WAKE: Exit = Exit::Usage;

/// What a failed turn asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remedy {
    /// Wait, and try again.
    Wait,
    /// Continue: the answer was cut at its longest.
    Continue,
    /// A person has to do something.
    Person,
}

/// After a turn that failed.
pub(super) async fn failed(context: &HookContext, failure: &StopFailure) -> Exit {
    let Some(id) = &context.session else { return Exit::Done };
    if !context.loaded.config.enabled || context.is_inner() {
        return Exit::Done;
    }
    let sessions = context.sessions(id).await;
    match sessions.load(id).await {
        Ok(Some(_)) => {}
        Ok(None) => return Exit::Done,
        Err(error) => {
            log::debug(context, &format!("not continued: {error}")).await;
            return Exit::Done;
        }
    }
    let judged = match remedy(failure) {
        Remedy::Wait => wait_out(context, &sessions, id, failure)
            .await
            .map(|words| words.map_or(HookAnswer::Nothing, HookAnswer::Continue)),
        Remedy::Continue => continue_cut(context, &sessions, id).await,
        Remedy::Person => {
            let why = format!("the model's service refused it: {}", words(failure));
            give_up(context, &sessions, id, &why).await
        }
    };
    woken(context, &sessions, id, judged).await
}

/// Gives the answer of a hook for which the client does not wait, and tells a person what they have
/// to know.
pub(super) async fn woken(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    judged: Result<HookAnswer, SessionError>,
) -> Exit {
    stop::tell_person(context, sessions, id).await;
    match judged {
        Ok(HookAnswer::Continue(prompt)) => {
            context.io.note(prompt).await;
            WAKE
        }
        Ok(_) => Exit::Done,
        Err(error) => {
            log::debug(context, &format!("not continued: {error}")).await;
            Exit::Done
        }
    }
}

fn remedy(failure: &StopFailure) -> Remedy {
    match failure.error.as_deref() {
        Some("rate_limit" | "overloaded" | "server_error" | "timeout" | "network") => Remedy::Wait,
        Some("max_output_tokens") => Remedy::Continue,
        Some("authentication_failed" | "billing_error" | "invalid_request") => Remedy::Person,
        Some(_) | None => match failure.message.as_deref().and_then(AgentErrorKind::of_message) {
            Some(AgentErrorKind::Limit | AgentErrorKind::Overloaded | AgentErrorKind::Network) => {
                Remedy::Wait
            }
            Some(_) | None => Remedy::Person,
        },
    }
}

/// What the client says about the failure, on one line.
fn words(failure: &StopFailure) -> String {
    let words = failure.message.as_deref().or(failure.error.as_deref());
    text::ellipsis(&text::one_line(words.unwrap_or("no reason given")), 160)
}

/// Continues an answer that was cut, unless its client exits instead of waiting for us: nobody would
/// hear the answer, and a continuation that never began would count.
async fn continue_cut(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
) -> Result<HookAnswer, SessionError> {
    let client = client(&context.io).await;
    let until = context.io.now().later(limits::CLIENT_EXIT_MS);
    let is_open = |session: &Session| matches!(session.state, SessionState::Open(_));
    let is_there = slept(context, sessions, id, until, is_open).await?;
    if self::client(&context.io).await != client {
        let why = "its answer was cut at the output limit, and its client has exited";
        return give_up(context, sessions, id, why).await;
    }
    if !is_there {
        return Ok(HookAnswer::Nothing);
    }
    let stop = StopInput { is_cut: true, ..StopInput::default() };
    let session = sessions.load(id).await?;
    stop::decide(context, sessions, id, session, &stop).await
}

/// Notes why the session is not continued, and that a person has to be told.
async fn give_up(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    why: &str,
) -> Result<HookAnswer, SessionError> {
    let at = context.io.now();
    let is_new = sessions
        .change_known(id, |session| {
            let is_new = session.failed(at, why);
            if is_new {
                notify::session::enqueue(session, &context.loaded.config);
            }
            is_new
        })
        .await?;
    if is_new {
        log::limit(context, why).await;
    }
    Ok(HookAnswer::Nothing)
}

/// The message to an agent that continues; `None`: onloop does not continue it.
async fn wait_out(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    failure: &StopFailure,
) -> Result<Option<String>, SessionError> {
    let io = &context.io;
    let (tail, _) = context.transcript().await;
    let lifted = lifted_in(&tail, io.now());
    let why = format!("the model's service does not serve it: {}", words(failure));
    let at = io.now();
    let wait = sessions
        .change_known(id, |session| {
            let wait = session.refused(at, &why, lifted);
            if matches!(wait, Some(ProviderWait::TooLong(_))) {
                notify::session::enqueue(session, &context.loaded.config);
            }
            wait
        })
        .await?;
    let until = match wait {
        None => return Ok(None),
        Some(ProviderWait::TooLong(_)) => {
            log::limit(context, &format!("{why}; no longer waiting")).await;
            return Ok(None);
        }
        Some(ProviderWait::Until(until)) => until,
    };
    log::limit(context, &format!("{why}; waits until {}", until.to_rfc3339())).await;
    if !slept(context, sessions, id, until, |session| session.still_waits(until)).await? {
        return Ok(None);
    }
    let at_end = io.now();
    let said = sessions
        .change_known(id, |session| {
            session.still_waits(until).then(|| {
                session.served_again(at_end);
                continuation(session, at_end.millis_since(at))
            })
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
pub(super) async fn slept(
    context: &HookContext,
    sessions: &Sessions,
    id: &SessionId,
    until: Timestamp,
    still_waits: impl Fn(&Session) -> bool,
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
        if !session.is_some_and(|session| still_waits(&session)) {
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
    fn each_failure_has_its_remedy() {
        use Remedy::{Continue, Person, Wait};
        let table = [
            (Some("rate_limit"), "You've hit your limit · resets 12:16pm (UTC)", Wait),
            (Some("server_error"), "API Error: 529 Overloaded.", Wait),
            (Some("overloaded"), "", Wait),
            (Some("max_output_tokens"), "the response exceeded the output token maximum", Continue),
            (Some("authentication_failed"), "usage limit", Person),
            (Some("billing_error"), "Credit balance is too low", Person),
            (Some("invalid_request"), "prompt is too long", Person),
            (Some("unknown"), "API Error: Connection error.", Wait),
            (Some("unknown"), "API Error: 401 unauthorized", Person),
            (None, "the model is overloaded", Wait),
            (None, "", Person),
        ];
        for (error, message, expected) in table {
            let failure = StopFailure {
                error: error.map(str::to_owned),
                message: Some(message.to_owned()).filter(|message| !message.is_empty()),
            };
            assert_eq!(remedy(&failure), expected, "{failure:?}");
        }
    }
}
