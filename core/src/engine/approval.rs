//! What happens to a call that no rule decides: a language model is asked, then a person.
//!
//! An error never allows a call. Whatever goes wrong ends in [`Resolution::NoAnswer`] with the
//! reason, and the host asks whoever is there.

mod ask;
mod judge;
pub mod pending;
mod poller;
pub(crate) mod telegram;

use crate::documents::approval::PendingCall;
use crate::effect::Io;
use crate::handsoff::DEPTH_VARIABLE;
use crate::handsoff::approval::message::ApprovalSubject;
use crate::handsoff::config::Config;
use crate::limits;
use crate::text;
use judge::Opinion;

/// A call that no rule decides.
#[derive(Clone, Debug)]
pub struct Escalation {
    /// The session that makes it.
    pub session_id: String,
    /// The tool.
    pub tool: String,
    /// What it would do, as [`crate::handsoff::approval::message::whole`] shows it to people.
    pub target_text: String,
    /// Why no rule decides.
    pub reason: String,
    /// The end of the conversation, for the language model; empty if it is not known.
    pub context: String,
    /// Whether only a person may answer: no language model is asked.
    pub only_a_person: bool,
    /// Time until the host stops waiting for us, from now.
    pub time_left_ms: u64,
}

/// The answer to an [`Escalation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It may run.
    Allow,
    /// It may not; why, for the agent.
    Deny(String),
    /// Nobody gave an answer that counts; why, for people.
    NoAnswer(String),
}

/// Asks a language model and then a person, as far as they are configured.
pub async fn escalate(io: &Io, config: &Config, escalation: &Escalation) -> Resolution {
    if !config.enabled {
        return Resolution::NoAnswer("hands-off mode is off".to_owned());
    }
    // An agent that we asked for an opinion must not make us ask another one.
    if io.env(DEPTH_VARIABLE).is_some() {
        return Resolution::NoAnswer(
            "an agent that was asked for an opinion has no say".to_owned(),
        );
    }
    let asked_at = io.now();
    let mut reason = escalation.reason.clone();
    if config.auto_permission && !escalation.only_a_person {
        match judge::opinion(io, escalation).await {
            Opinion::Allow => return Resolution::Allow,
            Opinion::Deny => {
                return Resolution::Deny("a language model judged it to be dangerous".to_owned());
            }
            Opinion::Ask(why) => reason = format!("{reason}; {why}"),
        }
    }
    let Some(telegram) = &config.telegram else {
        return Resolution::NoAnswer(reason);
    };
    let spent_ms = io.now().millis_since(asked_at) + limits::APPROVAL_MARGIN_MS;
    let wait_ms = telegram.timeout_ms.min(escalation.time_left_ms.saturating_sub(spent_ms));
    if wait_ms < 1000 {
        return Resolution::NoAnswer(format!("{reason}; no time was left to ask a person"));
    }
    let subject = ApprovalSubject {
        tool: escalation.tool.clone(),
        target: escalation.target_text.clone(),
        session_id: escalation.session_id.clone(),
        reason,
    };
    ask::person(io, telegram, &subject, wait_ms).await
}

/// Asks a person about a deferred call and waits for `telegram.timeout_sec`.
pub async fn ask_in_chat(io: &Io, config: &Config, call: &PendingCall) -> Resolution {
    let Some(telegram) = config.telegram.as_ref().filter(|_| config.enabled) else {
        let why = format!("Telegram is not set up in `{}`", text::one_line(&call.cwd));
        return Resolution::NoAnswer(why);
    };
    let subject = ApprovalSubject {
        tool: call.tool.clone(),
        target: call.target.clone(),
        session_id: call.session_id.clone(),
        reason: call.reason.clone(),
    };
    ask::person(io, telegram, &subject, telegram.timeout_ms).await
}

/// The folder of questions, answers and pending calls. It belongs to the person and not to one
/// checkout, as the bot does.
fn folder(io: &Io) -> String {
    let home = io.env("AGENTIZE_HOME").map(str::trim).filter(|home| !home.is_empty());
    let home = home.or_else(|| io.env("HOME")).unwrap_or(&io.start().cwd);
    let home = match home.starts_with('/') {
        true => home.trim_end_matches('/').to_owned(),
        false => format!("{}/{home}", io.start().cwd.trim_end_matches('/')),
    };
    format!("{home}/.tmp/hooked-sessions/approvals")
}
