//! Before a prompt is sent: it may start a workflow, or pause or resume the session.

use super::{HookContext, background, driving, log};
use onloop_engine::session::files::SessionError;
use onloop_sessions::handsoff::command::{detect, unread_number};
use onloop_sessions::handsoff::subject::{PromptSubject, subject};
use onloop_sessions::handsoff::{Pause, Prompt, PromptEffect, Session, SessionId};
use onloop_sessions::hooks::HookAnswer;

pub(super) async fn submitted(
    context: &HookContext,
    text: &str,
    prompt_id: Option<&str>,
    typed: bool,
) -> HookAnswer {
    let Some(id) = &context.session else { return HookAnswer::Nothing };
    if text.trim().is_empty() {
        return HookAnswer::Nothing;
    }
    let own = &context.loaded.config.workflows;
    let custom: Vec<_> = own.iter().map(|w| (w.command.as_str(), w.name.as_str())).collect();
    let answered = match detect(text, &custom) {
        // A client announces a command before it expands it, and asks the hooks of each scope.
        Some(_) if is_begun(context, id, prompt_id).await => return HookAnswer::Nothing,
        Some(started) => {
            let mut session = Session::begin(id.clone(), started, context.io.now());
            session.begun_by(prompt_id);
            begin(context, &session, unread_number(text, &custom)).await
        }
        None => other_prompt(context, id, Prompt { text, id: prompt_id }, typed).await,
    };
    match answered {
        Ok(answer) => answer,
        Err(error) => {
            log::debug(context, &format!("the prompt changed nothing: {error}")).await;
            HookAnswer::SystemMessage(format!("onloop cannot store this session: {error}"))
        }
    }
}

/// Whether this very prompt began the session.
async fn is_begun(context: &HookContext, id: &SessionId, prompt_id: Option<&str>) -> bool {
    let Some(prompt_id) = prompt_id else { return false };
    let session = context.sessions(id).await.load(id).await;
    session.is_ok_and(|session| {
        session.is_some_and(|session| session.prompt_id.as_deref() == Some(prompt_id))
    })
}

async fn begin(
    context: &HookContext,
    session: &Session,
    unread: Option<(String, u64)>,
) -> Result<HookAnswer, SessionError> {
    let sessions = context.sessions(&session.id).await;
    sessions.begin(session).await?;
    log::debug(context, &format!("began `{}`", session.workflow)).await;
    Ok(match unread {
        Some((word, number)) => HookAnswer::SystemMessage(format!(
            "onloop: no number was taken from `{word}`; `/{}` takes it as `{number}`",
            session.workflow
        )),
        None => HookAnswer::Nothing,
    })
}

/// A prompt that starts no workflow. It may be about a run; else a question pauses the session, and
/// everything else continues it.
async fn other_prompt(
    context: &HookContext,
    id: &SessionId,
    prompt: Prompt<'_>,
    typed: bool,
) -> Result<HookAnswer, SessionError> {
    // Commands of plugins are announced by hosts before they are expanded.
    let is_command = prompt.text.starts_with(['/', '$']);
    if (typed || is_command) && driving::prompted(context, id, prompt.text, prompt.id).await? {
        return Ok(HookAnswer::Nothing);
    }
    // A pause would not be noticed there.
    let is_unheard =
        !context.host.tells_at_prompts() && subject(prompt.text) == PromptSubject::Question;
    // What begins so is inserted by the client.
    if !typed || prompt.text.trim_start().starts_with('<') {
        background::prompted(context, id).await?;
    }
    if !typed || is_unheard {
        return Ok(HookAnswer::Nothing);
    }
    let sessions = context.sessions(id).await;
    if sessions.load(id).await?.is_none() {
        return Ok(HookAnswer::Nothing);
    }
    let at = context.io.now();
    let message = sessions
        .change_known(id, |session| {
            let effect = session.prompted(at, prompt);
            said(session, effect)
        })
        .await?;
    let Some(message) = message else {
        return Ok(HookAnswer::Nothing);
    };
    log::debug(context, &message).await;
    Ok(HookAnswer::SystemMessage(format!("onloop: {message}")))
}

/// What a person is told, who would not expect it. A session of a run that has none any more has
/// nothing that could pause.
fn said(session: &Session, effect: PromptEffect) -> Option<String> {
    if session.workflow == Session::RUN && session.run_id.is_none() {
        return None;
    }
    let (goal, id) = (session.goal(), &session.id);
    let how = match effect {
        PromptEffect::Nothing | PromptEffect::Continues => return None,
        PromptEffect::Resumed => return Some(format!("{goal} continues after this")),
        PromptEffect::Paused(Pause::Question) => {
            "pauses to answer you.\n  Your next prompt that is not a question or an objection \
             resumes it; `continue` is enough."
        }
        PromptEffect::Paused(Pause::Person | Pause::Silence) => "pauses until you say `continue`.",
    };
    Some(format!("{goal} {how}\n  To end it: onloop session stop {id}"))
}
