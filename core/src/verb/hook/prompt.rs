//! Before a prompt is sent: it may start a workflow, or pause or resume the session.

use super::{Scene, log, stop};
use crate::engine::sessions::{SessionChange, SessionError};
use crate::handsoff::command::detect;
use crate::handsoff::{Prompt, Session};
use crate::hooks::HookAnswer;

pub(super) async fn submitted(
    scene: &Scene,
    text: &str,
    prompt_id: Option<&str>,
    typed: bool,
) -> HookAnswer {
    let Some(id) = &scene.session else { return HookAnswer::Nothing };
    if text.trim().is_empty() {
        return HookAnswer::Nothing;
    }
    let own = &scene.loaded.config.workflows;
    let custom: Vec<_> = own.iter().map(|w| (w.command.as_str(), w.name.as_str())).collect();
    let noted = match detect(text, &custom) {
        Some(started) => {
            let mut session = Session::begin(id.clone(), started, scene.io.now());
            session.prompt_id = prompt_id.map(str::to_owned);
            begin(scene, &session).await
        }
        None if typed => {
            let prompt = Prompt { text, id: prompt_id };
            other_request(scene, id, prompt).await
        }
        None => Ok(()),
    };
    match noted {
        Ok(()) => HookAnswer::Nothing,
        Err(error) => {
            log::debug(scene, &format!("the prompt changed nothing: {error}")).await;
            HookAnswer::Tell(format!("onloop cannot store this session: {error}"))
        }
    }
}

async fn begin(scene: &Scene, session: &Session) -> Result<(), SessionError> {
    let sessions = scene.sessions(&session.id).await;
    sessions.begin(session).await?;
    log::debug(scene, &format!("began `{}`", session.workflow)).await;
    Ok(())
}

/// A person asks for something that starts no workflow. The session pauses until a prompt says to
/// continue; one that works on a run, until the run changes.
async fn other_request(
    scene: &Scene,
    id: &crate::handsoff::SessionId,
    prompt: Prompt<'_>,
) -> Result<(), SessionError> {
    let sessions = scene.sessions(id).await;
    let at = scene.io.now();
    let before = sessions.load(id).await?;
    let bound = before.as_ref().and_then(|session| session.run_id.as_deref());
    let run = match &before {
        // A session without a run pauses whatever happens to runs.
        Some(session) if session.run_id.is_none() => None,
        Some(_) | None => stop::active_run(scene, bound).await?,
    };
    if before.is_none() {
        let Some(run) = run else { return Ok(()) };
        let mut session = Session::of_run(id.clone(), at);
        session.paused = true;
        session.saw(&run);
        return sessions.begin(&session).await;
    }
    let paused = sessions
        .change(id, |session| match session {
            Some(mut session) => {
                let changed = session.prompted(at, prompt);
                let paused = changed && session.paused;
                if let Some(run) = run.as_ref().filter(|_| changed) {
                    session.saw(run);
                }
                (SessionChange::when(changed, session), paused)
            }
            None => (SessionChange::Keep, false),
        })
        .await?;
    if paused {
        log::debug(scene, "paused by another request").await;
    }
    Ok(())
}
