//! Telling a person that a session is not continued any more.
//!
//! Who still has to be told stands in the session's file, written together with the end of it, and
//! is tried again whenever its hook is called.

use super::send;
use crate::git::checkout;
use crate::session::files::{SessionError, Sessions};
use onloop_documents::notices::Notice;
use onloop_effect::Io;
use onloop_run::NoticeKind;
use onloop_sessions::handsoff::config::Config;
use onloop_sessions::handsoff::{Session, SessionId, SessionState};
use onloop_syntax::limits;
use onloop_syntax::text;

/// In less time nothing is worth trying.
const SHORTEST_MS: u64 = 500;

/// Where a session is, for the person who is told.
#[derive(Clone, Copy, Debug)]
pub struct NotificationContext<'a> {
    /// The folder in which it works.
    pub folder: &'a str,
    /// How it is gone on with, in backticks where it is a command.
    pub resume: &'a str,
    /// Time until the host stops waiting for us; `None`: the host does not wait.
    pub time_left_ms: Option<u64>,
}

/// Notes in `session`, which has just ended, who has to be told.
pub fn enqueue(session: &mut Session, config: &Config) {
    let notify = config.notify.as_ref();
    let notify = notify.filter(|notify| notify.kinds.contains(&NoticeKind::Session));
    let Some(notify) = notify else { return };
    let names = notify.receivers.iter().map(|receiver| receiver.name().to_owned());
    session.must_notify(names.collect());
}

/// Tells those who have to be told about session `id`.
///
/// # Errors
///
/// When its file cannot be read or changed.
pub async fn deliver(
    io: &Io,
    config: &Config,
    sessions: &Sessions,
    id: &SessionId,
    place: NotificationContext<'_>,
) -> Result<(), SessionError> {
    let Some(notify) = &config.notify else { return Ok(()) };
    let Some(session) =
        sessions.load(id).await?.filter(|session| !session.pending_notifications.is_empty())
    else {
        return Ok(());
    };
    let notice = notice_of(io, &session, sessions, place).await;
    let began = io.now();
    let mut told = Vec::new();
    for receiver in &notify.receivers {
        let left_ms = place.time_left_ms.map_or(limits::NOTICE_TIMEOUT_MS, |left_ms| {
            let spent_ms = io.now().millis_since(began) + limits::NOTICE_HOOK_MS;
            left_ms.saturating_sub(spent_ms).min(limits::NOTICE_HOOK_MS)
        });
        let name = receiver.name();
        if left_ms < SHORTEST_MS
            || !session.pending_notifications.iter().any(|pending| pending == name)
        {
            continue;
        }
        if send::send(io, receiver, &notice, left_ms).await.is_ok() {
            told.push(name);
        }
    }
    let is_meant = |name: &String| notify.receivers.iter().any(|r| r.name() == name);
    sessions
        .change_known(id, |session| {
            // One that is not configured any more is owed nothing.
            let pending = session.pending_notifications.iter();
            let pending = pending.filter(|name| !told.contains(&name.as_str()) && is_meant(name));
            session.must_notify(pending.cloned().collect());
        })
        .await
}

async fn notice_of(
    io: &Io,
    session: &Session,
    sessions: &Sessions,
    place: NotificationContext<'_>,
) -> Notice {
    let (id, workflow) = (&session.id, text::one_line(&session.workflow));
    let how = match &session.state {
        SessionState::Ended(ending) => format!("is {}", ending.as_str()),
        SessionState::Open(_) => "is not continued".to_owned(),
    };
    let what = match &session.state {
        SessionState::Ended(ending) if ending.is_done() => "Look at it",
        SessionState::Ended(_) | SessionState::Open(_) => "Continue it",
    };
    let reason = session.reason.as_deref().map(text::one_line);
    let folder = text::one_line(place.folder);
    let mut facts = reason.map(|reason| format!("{reason}\n")).unwrap_or_default();
    facts += &format!(
        "Session: {id}\nWorkflow: {workflow}\nContinued: {}\nWork: {folder}",
        text::counted(u64::from(session.continuation_count), "time")
    );
    for (name, link) in links(io, session, [place.folder, sessions.home()]).await {
        facts += &format!("\n{name}: {link}");
    }
    let short = text::prefix(id.as_str(), 8);
    Notice {
        // It may end again after it was gone on with.
        id: format!("{id}#{}", session.continuation_count),
        kind: NoticeKind::Session,
        at: io.now(),
        title: format!("Session {short} ({workflow}) {how}"),
        facts: io.redacted(&facts),
        advice: format!("{what}:\n  {}", place.resume.trim_matches('`')),
        run_id: session.run_id.clone(),
        session_id: Some(id.as_str().to_owned()),
        step: None,
        folder,
        branch: None,
    }
}

/// The issue and the pull request of a session, as links where the remote of the first of these
/// folders that is a checkout tells where they are.
async fn links(io: &Io, session: &Session, folders: [&str; 2]) -> Vec<(&'static str, String)> {
    let pull_request = session.pr_number.or(session.pr_no);
    if session.issue_no.is_none() && pull_request.is_none() {
        return Vec::new();
    }
    let mut address = None;
    for folder in folders {
        if address.is_none()
            && let Some(checkout) = checkout::find(io, folder).await
        {
            address = checkout.web_address(io).await;
        }
    }
    let of = |number: u64, link: Option<String>| link.unwrap_or_else(|| format!("#{number}"));
    let issue = session
        .issue_no
        .map(|number| ("Issue", of(number, address.as_ref().map(|address| address.issue(number)))));
    let pull_request = pull_request.map(|number| {
        let link = address.as_ref().map(|address| address.pull_request(number));
        ("Pull request", of(number, link))
    });
    issue.into_iter().chain(pull_request).collect()
}
