//! `onloop session list --everywhere`: the morning after.

use onloop_documents::board::{Board, CallCard, SessionCard, SessionStatus};
use onloop_effect::Io;
use onloop_engine::board::ChangeWatcher;
use serde_json::json;

pub(super) async fn list(io: &Io, json: bool) {
    let Board { sessions, calls, .. } = ChangeWatcher::default().look(io).await;
    if json {
        let list = json!({ "sessions": sessions, "calls": calls });
        io.result(format!("{list:#}\n")).await;
        return;
    }
    if sessions.is_empty() {
        io.note("No sessions are known on this machine.").await;
    }
    let mut out = String::new();
    for session in &sessions {
        let own = calls.iter().filter(|call| call.session == session.id);
        out += &card(session, own, &io.start().cwd);
    }
    io.result(out).await;
}

/// A session for people who stand in the folder `here`.
fn card<'c>(
    session: &SessionCard,
    calls: impl Iterator<Item = &'c CallCard>,
    here: &str,
) -> String {
    let (symbol, how) = match session.activity {
        SessionStatus::Waits => ("⏸", "waits for you"),
        SessionStatus::Unreadable => ("✗", "cannot be read"),
        SessionStatus::Limited => ("⏳", "is not served"),
        SessionStatus::Quiet => ("?", "is quiet"),
        SessionStatus::Working => ("→", "works"),
        SessionStatus::Ended => ("✓", "ended"),
    };
    let why = if session.now.is_empty() { String::new() } else { format!(": {}", session.now) };
    let mut out = format!("{symbol} {}  {how}{why}\n", session.id);
    let mut add = |name: &str, words: &str| {
        if !words.is_empty() {
            out += &format!("    {name:<9} {words}\n");
        }
    };
    add("goal", &session.goal);
    let page = |number: Option<u64>, url: &Option<String>| match (number, url) {
        (Some(number), Some(url)) => format!("#{number} {url}"),
        (Some(number), None) => format!("#{number}"),
        (None, _) => String::new(),
    };
    add("issue", &page(session.issue, &session.issue_url));
    add("PR", &page(session.pull_request, &session.pull_request_url));
    add("folder", &session.folder);
    let times = onloop_syntax::text::counted(u64::from(session.continued), "time");
    add("continued", &times);
    if let Some(last) = &session.last {
        add("last", &format!("{} {}", last.at.to_rfc3339(), last.text));
    }
    for call in calls {
        let what = onloop_syntax::text::ellipsis(&onloop_syntax::text::one_line(&call.target), 200);
        add(
            "call",
            &format!(
                "{} {}: {what}; onloop approve {}",
                call.since.to_rfc3339(),
                call.tool,
                call.id
            ),
        );
    }
    for decision in &session.decisions {
        add("decision", &format!("{} {}", decision.at.to_rfc3339(), decision.text));
    }
    add("cost", session.used.as_deref().unwrap_or_default());
    let is_over = session.activity == SessionStatus::Ended;
    if let Some(resume) = session.resume.as_deref().filter(|_| !is_over) {
        // Clients find a conversation only in its folder.
        let is_command = !resume.starts_with("the ");
        let is_here = session.folder == here || session.folder.is_empty() || !is_command;
        let goes = format!("cd {} && ", onloop_syntax::text::shell_word(&session.folder));
        add("resume", &format!("{}{resume}", if is_here { "" } else { &goes }));
    }
    out
}
