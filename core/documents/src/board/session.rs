//! A hands-off session in a list: what a person wants to know of it in the morning.

use serde::Serialize;

use super::{LoggedLine, RunCard, line, moment_if};
use crate::audit_log::{AuditEntry, AuditEvent};
use crate::session_place::SessionPlace;
use onloop_sessions::handsoff::{Pause, Session, SessionState};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_syntax::text::words;
use onloop_syntax::time::Timestamp;

words! {
    /// How a session stands.
    #[derive(Default, PartialOrd, Ord)]
    pub enum SessionStatus {
        /// A person has to do something.
        Waits = "waits",
        /// Nobody knows: its file cannot be read.
        #[default]
        Unreadable = "unreadable",
        /// The provider of its agent does not serve it for now.
        Limited = "limited",
        /// It is open, and nothing was heard of it for a while.
        Quiet = "quiet",
        /// Its agent works.
        Working = "working",
        /// It is over.
        Ended = "ended",
    }
}

impl SessionStatus {
    /// Whether a person has to do something before it continues.
    pub fn needs_person(self) -> bool {
        match self {
            SessionStatus::Waits => true,
            SessionStatus::Unreadable
            | SessionStatus::Limited
            | SessionStatus::Quiet
            | SessionStatus::Working
            | SessionStatus::Ended => false,
        }
    }
}

/// A hands-off session in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SessionCard {
    /// Its id.
    pub id: String,
    /// The folder in which its agent works, or else the one below which its file lies.
    pub folder: String,
    /// `open`, `paused`, how it ended, or `unreadable`.
    pub status: String,
    /// How it stands.
    pub activity: SessionStatus,
    /// Why it stands so, as a clause; empty where that says nothing more.
    pub now: String,
    /// What it works on.
    pub workflow: String,
    /// What is there when its goal is reached.
    pub goal: String,
    /// The program that runs its agent, by the name that people know.
    pub host: Option<String>,
    /// The run that it drives.
    pub run_id: Option<String>,
    /// The issue that it is about.
    pub issue: Option<u64>,
    /// Where that issue is in a browser.
    pub issue_url: Option<String>,
    /// The pull request that it made, or was started for.
    pub pull_request: Option<u64>,
    /// Where that pull request is in a browser.
    pub pull_request_url: Option<String>,
    /// How often its agent was sent on.
    pub continued: u32,
    /// Why it was last not continued, or cannot be read.
    pub reason: Option<String>,
    /// Calls of its agent that wait for a person.
    pub calls: usize,
    /// What was last heard of it.
    pub last: Option<LoggedLine>,
    /// Who decided what that no rule allows, the end of it, oldest first.
    pub decisions: Vec<LoggedLine>,
    /// What it cost, where that is known.
    pub used: Option<String>,
    /// How it is gone on with.
    pub resume: Option<String>,
    /// When something about it changed last.
    #[serde(serialize_with = "moment_if")]
    pub changed_at: Option<Timestamp>,
}

/// What is known of a session besides its file.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionFacts<'a> {
    /// Where it is.
    pub place: Option<&'a SessionPlace>,
    /// Its issue and its pull request in a browser.
    pub links: (Option<&'a str>, Option<&'a str>),
    /// How many of its calls wait for a person.
    pub calls: usize,
    /// What the audit log says of this machine, the oldest first.
    pub audit_log: &'a [AuditEntry],
    /// The run that it drives.
    pub run: Option<&'a RunCard>,
}

/// A session as a list shows it at `now`; `folder` is the one in which its agent works.
pub fn session(
    session: &Session,
    folder: &str,
    facts: SessionFacts<'_>,
    now: Timestamp,
) -> SessionCard {
    let id = session.id.as_str();
    let own: Vec<&AuditEntry> =
        facts.audit_log.iter().filter(|entry| entry.session.as_deref() == Some(id)).collect();
    let logged = |entry: &&AuditEntry| LoggedLine { at: entry.at, text: line(&entry.line()) };
    let decided: Vec<LoggedLine> = own
        .iter()
        .filter(|entry| entry.event == AuditEvent::Decided && entry.by.is_some())
        .map(logged)
        .collect();
    let skipped = decided.len().saturating_sub(limits::AUDIT_LOG_SHOWN);
    let last = own.last().map(logged);
    let heard = last.as_ref().map(|last| last.at).max(session.updated_at);
    let (activity, why) = activity(session, facts, heard, now);
    let host = facts.place.map(|place| place.host);
    SessionCard {
        id: id.to_owned(),
        folder: text::one_line(folder),
        status: text::one_line(session.status()),
        activity,
        now: line(&why),
        workflow: line(&session.workflow),
        goal: line(&goal(session)),
        host: host.map(|host| host.title().to_owned()),
        run_id: session.run_id.as_deref().map(text::one_line),
        issue: session.issue_no,
        issue_url: facts.links.0.map(text::one_line),
        pull_request: session.pr_number.or(session.pr_no),
        pull_request_url: facts.links.1.map(text::one_line),
        continued: session.continuation_count,
        reason: session.reason.as_deref().map(line),
        calls: facts.calls,
        last,
        decisions: decided[skipped..].to_vec(),
        used: facts.run.and_then(|run| run.used.clone()),
        resume: host.map(|host| host.resume_command(id).trim_matches('`').to_owned()),
        changed_at: session.updated_at,
    }
}

/// A session whose file cannot be read, and why.
pub fn unreadable_session(id: &str, folder: &str, why: &str) -> SessionCard {
    SessionCard {
        id: text::one_line(id),
        folder: text::one_line(folder),
        status: "unreadable".to_owned(),
        activity: SessionStatus::Unreadable,
        now: line(why),
        reason: Some(line(why)),
        ..SessionCard::default()
    }
}

/// How it stands, and why.
fn activity(
    session: &Session,
    facts: SessionFacts<'_>,
    heard: Option<Timestamp>,
    now: Timestamp,
) -> (SessionStatus, String) {
    let reason = session.reason.clone().unwrap_or_default();
    if let SessionState::Ended(ending) = &session.state {
        let why = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        return (SessionStatus::Ended, format!("{}{why}", ending.as_str()));
    }
    if facts.calls > 0 {
        let calls = text::counted(facts.calls as u64, "call");
        let verb = if facts.calls == 1 { "waits" } else { "wait" };
        return (SessionStatus::Waits, format!("{calls} of its agent {verb} for an answer"));
    }
    if let Some(run) = facts.run.filter(|run| run.state.needs_person()) {
        return (SessionStatus::Waits, run.now.clone());
    }
    if let Some(until) = session.limited_until.filter(|until| *until > now) {
        return (SessionStatus::Limited, format!("{reason}, until {}", until.to_rfc3339()));
    }
    if let Some(until) = session.tasks_until() {
        return match until > now {
            true => (SessionStatus::Working, "waits for its background tasks".to_owned()),
            false => (SessionStatus::Waits, "its background tasks do not end".to_owned()),
        };
    }
    match session.pause {
        Some(Pause::Question) => {
            let how = "paused by your question; a prompt that is not one resumes it";
            return (SessionStatus::Waits, how.to_owned());
        }
        Some(Pause::Person) => {
            return (SessionStatus::Waits, "paused until you say `continue`".to_owned());
        }
        Some(Pause::Silence) | None => {}
    }
    if !reason.is_empty() {
        return (SessionStatus::Waits, reason);
    }
    match heard.filter(|heard| now.millis_since(*heard) > limits::SESSION_QUIET_MS) {
        Some(heard) => {
            let why = format!("nothing was heard of it since {}", heard.to_rfc3339());
            (SessionStatus::Quiet, why)
        }
        None => (SessionStatus::Working, String::new()),
    }
}

/// What is there when the goal of its workflow is reached.
fn goal(session: &Session) -> String {
    let issue = session.issue_no.map_or_else(|| "its issue".to_owned(), |n| format!("issue #{n}"));
    match session.workflow.as_str() {
        "issue-to-impl" => format!("a pull request for {issue}"),
        "ultra-planner" | "mega-planner" => match session.issue_no {
            Some(n) => format!("a plan in issue #{n}"),
            None => "a plan in an issue".to_owned(),
        },
        "plan-to-issue" => "an issue with the plan".to_owned(),
        "setup-viewboard" => "a project board".to_owned(),
        "sync-master" => match session.pr_no {
            Some(n) => format!("the branch of pull request #{n}, rebased"),
            None => "a rebased branch".to_owned(),
        },
        Session::RUN => match &session.run_id {
            Some(run) => format!("run {run}"),
            None => "a run".to_owned(),
        },
        own => match session.issue_no {
            Some(n) => format!("{own} for issue #{n}"),
            None => own.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_permission::Decision;
    use onloop_sessions::handsoff::approval::{ApprovalStage, Approver};
    use onloop_sessions::handsoff::command::detect;
    use onloop_sessions::handsoff::{Created, SessionEnding, SessionId, SessionRecord};
    use onloop_sessions::hooks::Host;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    fn begun(prompt: &str) -> Session {
        let started = detect(prompt, &[]).unwrap();
        Session::begin(SessionId::new("s1").unwrap(), started, at(0))
    }

    fn changed(session: &Session, change: impl FnOnce(&mut SessionRecord)) -> Session {
        let mut record = SessionRecord::clone(session);
        change(&mut record);
        Session::restore(session.id.clone(), record, None)
    }

    fn card(session: &Session, minutes: i64) -> SessionCard {
        super::session(session, "/srv/shop", SessionFacts::default(), at(minutes))
    }

    fn said(card: &SessionCard) -> String {
        format!("{}: {}", card.activity.as_str(), card.now)
    }

    #[test]
    fn a_session_says_whether_somebody_is_needed_and_why() {
        let open = begun("/issue-to-impl 42");
        assert_eq!(said(&card(&open, 10)), "working: ");
        assert_eq!(
            said(&card(&open, 70)),
            "quiet: nothing was heard of it since 1970-01-01T00:00:00+00:00"
        );
        let reason = |text: &str| Some(text.to_owned());
        let stopped =
            changed(&open, |record| record.reason = reason("all 10 continuations are used up"));
        assert_eq!(said(&card(&stopped, 10)), "waits: all 10 continuations are used up");
        let limited = changed(&open, |record| {
            record.reason = reason("its limit on usage is reached");
            record.limited_until = Some(at(60));
        });
        assert_eq!(
            said(&card(&limited, 10)),
            "limited: its limit on usage is reached, until 1970-01-01T01:00:00+00:00"
        );
        assert_eq!(said(&card(&limited, 61)), "waits: its limit on usage is reached");
        let paused = changed(&open, |record| record.pause = Some(Pause::Question));
        assert_eq!(
            said(&card(&paused, 10)),
            "waits: paused by your question; a prompt that is not one resumes it"
        );
        let paused = changed(&open, |record| record.pause = Some(Pause::Person));
        assert_eq!(said(&card(&paused, 10)), "waits: paused until you say `continue`");
        let mut done = open.clone();
        done.end(at(5), SessionEnding::Done, None);
        assert_eq!(said(&card(&done, 10)), "ended: done");
        let done = changed(&done, |record| record.reason = reason("its run is over"));
        assert_eq!(said(&card(&done, 10)), "ended: done: its run is over");
        let facts = SessionFacts { calls: 2, ..SessionFacts::default() };
        let waiting = super::session(&open, "/srv/shop", facts, at(10));
        assert_eq!(said(&waiting), "waits: 2 calls of its agent wait for an answer");
    }

    #[test]
    fn a_session_says_what_it_is_about_and_who_decided_what() {
        let place = SessionPlace {
            id: SessionId::new("s1").unwrap(),
            folder: "/srv/shop".to_owned(),
            cwd: "/srv/shop".to_owned(),
            host: Host::Claude,
            began_at: at(0),
        };
        let entry = |session: &str, text: &str| AuditEntry {
            session: Some(session.to_owned()),
            ..AuditEntry::new(at(3), AuditEvent::Session, text)
        };
        let decided = AuditEntry {
            event: AuditEvent::Decided,
            tool: Some("Bash".to_owned()),
            about: Some("make deploy".to_owned()),
            decision: Some(Decision::Allow),
            by: Some(Approver { stage: ApprovalStage::Person, name: "Ann Lee".to_owned() }),
            ..entry("s1", "it was approved")
        };
        let audit_log =
            [entry("s1", "began"), decided, entry("s2", "another"), entry("s1", "continued 1/10")];
        let mut session = begun("/issue-to-impl 42");
        session.created(Created::PullRequest, 7);
        let facts = SessionFacts {
            place: Some(&place),
            links: (None, Some("https://github.com/o/r/pull/7")),
            audit_log: &audit_log,
            ..SessionFacts::default()
        };
        let card = super::session(&session, "/srv/shop", facts, at(10));
        assert_eq!(card.goal, "a pull request for issue #42");
        assert_eq!((card.pull_request, card.resume.as_deref()), (Some(7), Some("claude -r s1")));
        assert_eq!(card.last.as_ref().map(|last| last.text.as_str()), Some("continued 1/10"));
        let decisions: Vec<&str> = card.decisions.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(decisions, ["allowed by person Ann Lee: Bash `make deploy`"]);
        for (prompt, goal) in [
            ("/ultra-planner a feature", "a plan in an issue"),
            ("/ultra-planner --refine 7", "a plan in issue #7"),
            ("/plan-to-issue x", "an issue with the plan"),
            ("/setup-viewboard", "a project board"),
            ("/sync-master 9", "the branch of pull request #9, rebased"),
        ] {
            assert_eq!(super::goal(&begun(prompt)), goal);
        }
    }
}
