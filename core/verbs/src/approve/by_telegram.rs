//! `onloop approve --telegram`: asks about deferred calls in a chat, one after the other.

use std::collections::BTreeSet;

use super::{continue_session, warn};
use onloop_documents::approval::PendingCall;
use onloop_effect::{Exit, Io};
use onloop_engine::approval::pending::{self, Waiting};
use onloop_engine::approval::{self, Resolution};
use onloop_engine::error::{CommandError, ErrorKind, exit_of};
use onloop_engine::session::origin::top_folder;
use onloop_engine::state::config;
use onloop_sessions::handsoff::approval::ApprovalChoice;

/// Asks until every call that waits was asked about once. With `resumes` each session is resumed
/// after its answer, and the calls that it then defers are asked about as well.
///
/// Exits with 3 if a question was not answered; that call keeps waiting.
pub(super) async fn ask_about_all(io: &Io, resumes: bool) -> Result<Exit, CommandError> {
    let (mut asked, mut warned) = (BTreeSet::new(), false);
    let mut exit = Exit::Done;
    loop {
        let Waiting { calls, unreadable } = pending::list(io).await?;
        if !std::mem::replace(&mut warned, true) {
            warn(io, &unreadable).await;
        }
        let waits = |call: &PendingCall| {
            call.answer.is_none() && !asked.contains(&(call.id.clone(), call.since_ms))
        };
        let Some(call) = calls.into_iter().find(waits) else { break };
        asked.insert((call.id.clone(), call.since_ms));
        // The bot is the one of the project in which the call was made.
        let loaded = config::load(io, &top_folder(io, &call.cwd).await).await;
        let (choice, by) = match approval::ask_in_chat(io, &loaded.config, &call).await {
            Resolution::Allow(by) => (ApprovalChoice::Allow, by.name),
            Resolution::Deny { by, .. } => (ApprovalChoice::Deny, by.name),
            Resolution::NoAnswer(why) => {
                io.note(format!("`{}` keeps waiting: {why}", call.id)).await;
                exit = Exit::Paused;
                continue;
            }
        };
        match pending::answer(io, &call.id, choice, Some(&by)).await {
            Ok(call) => match exit_of(io, continue_session(io, &call, choice, resumes).await).await
            {
                Exit::Done => {}
                Exit::Interrupted => return Ok(Exit::Interrupted),
                other => exit = other,
            },
            // Somebody answered otherwise, or the session is gone.
            Err(failure) => {
                exit = CommandError::from(failure).of_kind(ErrorKind::Failed).report(io).await;
            }
        }
    }
    if asked.is_empty() {
        io.note("no call waits for an answer").await;
    }
    Ok(exit)
}
