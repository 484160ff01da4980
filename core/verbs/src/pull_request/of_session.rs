//! The pull request of a hands-off session: where it can be read, it says whether the work is done.

use crate::forge::{Forge, Openness, ServerResult, Sighting};
use onloop_effect::Io;
use onloop_engine::git::checkout;
use onloop_sessions::handsoff::Session;
use onloop_syntax::text;

/// How the pull request of a session stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SessionRequest {
    /// Every check has passed.
    Green,
    /// It is merged.
    Merged,
    /// Checks run.
    Pending,
    /// Something has to change.
    Red {
        /// What, as a clause.
        why: String,
    },
}

impl SessionRequest {
    /// Whether nothing is left to be done.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, SessionRequest::Green | SessionRequest::Merged)
    }

    /// The state as a clause.
    pub(crate) fn clause(&self) -> String {
        match self {
            SessionRequest::Green => "its pull request is green".to_owned(),
            SessionRequest::Merged => "its pull request is merged".to_owned(),
            SessionRequest::Pending => "the checks of its pull request run".to_owned(),
            SessionRequest::Red { why } => format!("its pull request is not done: {why}"),
        }
    }
}

/// The pull request of the branch in `folder`, for a session whose goal is one. `None`: there is none
/// for what is committed here, it has no checks, or it cannot be read within `timeout_ms`.
pub(crate) async fn of_session(
    io: &Io,
    folder: &str,
    session: &Session,
    timeout_ms: u64,
) -> Option<SessionRequest> {
    if session.workflow != "issue-to-impl" {
        return None;
    }
    let branch = checkout::own(io, folder).await?.branch(io).await?;
    let commit = io.git_head(folder).await.ok()??;
    let forge = Forge::around(io, folder, Some("origin")).await;
    let seen = forge.glance(io, folder, &branch, timeout_ms).await?;
    // What is not pushed was not checked; an older pull request may have had the same name.
    if seen.commit == commit { state(&seen) } else { None }
}

fn state(seen: &Sighting) -> Option<SessionRequest> {
    match seen.openness {
        Openness::Merged => return Some(SessionRequest::Merged),
        Openness::Closed => return None,
        Openness::Open if seen.checks.is_empty() => return None,
        Openness::Open => {}
    }
    let named = |result| {
        let checks = seen.required(result);
        checks.map(|check| format!("`{}`", text::one_line(&check.name))).collect::<Vec<_>>()
    };
    let failed = named(ServerResult::Failed);
    Some(match (seen.conflicts, failed.is_empty()) {
        (_, false) => {
            let failed = text::ellipsis(&failed.join(", "), 300);
            SessionRequest::Red { why: format!("failed: {failed}") }
        }
        (Some(true), true) => {
            SessionRequest::Red { why: "it conflicts with its target branch".to_owned() }
        }
        (Some(false), true) if named(ServerResult::Pending).is_empty() => SessionRequest::Green,
        (Some(false) | None, true) => SessionRequest::Pending,
    })
}
