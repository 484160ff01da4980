//! What happens to a call that no rule decides: a language model is asked, then a person.
//!
//! An error never allows a call. Whatever goes wrong ends in [`Resolution::NoAnswer`] with the
//! reason, and the host asks the person who is there.

pub(crate) mod ask;
mod deadline;
mod judge;
mod no_answer;
pub mod pending;
mod poller;
pub(crate) mod telegram;

use ask::{Asking, Given};

use crate::git::checkout;
use judge::Opinion;
use onloop_documents::approval::PendingCall;
use onloop_effect::{Failure, FailureKind, Io};
use onloop_sessions::handsoff::DEPTH_VARIABLE;
use onloop_sessions::handsoff::approval::message::{self, ApprovalSubject, CallPlace, Messages};
use onloop_sessions::handsoff::approval::{ApprovalChoice, ApprovalStage, Approver};
use onloop_sessions::handsoff::config::{Config, Telegram};
use onloop_syntax::limits;
use onloop_syntax::text;

/// A call that no rule decides.
#[derive(Clone, Debug)]
pub struct Escalation {
    /// The session that makes it.
    pub session_id: String,
    /// The folder in which the agent works, absolute.
    pub cwd: String,
    /// The tool.
    pub tool: String,
    /// What it would do, as [`onloop_sessions::handsoff::approval::message::whole`] shows it to people.
    pub target_text: String,
    /// Why no rule decides.
    pub reason: String,
    /// The end of the conversation, for the language model; empty if it is not known.
    pub context: String,
    /// Whether only a person may answer: no language model is asked.
    pub only_a_person: bool,
    /// Time until the host stops waiting for us, from now.
    pub time_left_ms: u64,
    /// The id under which the call waits, or would; see [`pending::call_id`].
    pub call_id: Option<String>,
    /// Whether the call waits without a process when there is no answer in that time.
    pub defers: bool,
}

/// The answer to an [`Escalation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It may run; who said so.
    Allow(Approver),
    /// It may not.
    Deny {
        /// Who said so.
        by: Approver,
        /// Why, for the agent.
        why: String,
    },
    /// There is no answer that counts; why, for people.
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
    // A person is asked already, and only they decide.
    let is_asked = match (&config.telegram, &escalation.call_id) {
        (Some(telegram), Some(call)) => ask::is_open(io, telegram, call).await,
        (Some(_), None) | (None, _) => false,
    };
    if config.auto_permission && !escalation.only_a_person && !is_asked {
        let by = Approver { stage: ApprovalStage::Model, name: judge::MODEL.to_owned() };
        match judge::opinion(io, escalation).await {
            Opinion::Allow => return Resolution::Allow(by),
            Opinion::Deny => {
                let why = "a language model judged it to be dangerous".to_owned();
                return Resolution::Deny { by, why };
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
        place: place(io, &escalation.cwd).await,
    };
    let asking = Asking {
        asked_before: 0,
        wait_ms,
        call: escalation.call_id.as_deref(),
        session: Some(&escalation.session_id),
        // The host does not wait as long as the person was promised.
        stays: escalation.defers && wait_ms < telegram.timeout_ms,
        ends_with: None,
    };
    about_call(io, telegram, &subject, asking).await
}

/// Asks a person about a deferred call and waits for `telegram.timeout_sec`. The question stays
/// open afterwards, as the call keeps waiting.
pub async fn ask_in_chat(io: &Io, config: &Config, call: &PendingCall) -> Resolution {
    let Some(telegram) = config.telegram.as_ref().filter(|_| config.enabled) else {
        let why = format!("Telegram is not set up in `{}`", text::one_line(&call.cwd));
        return Resolution::NoAnswer(why);
    };
    let asking = Asking {
        // One process asks about several.
        asked_before: io.now().as_millis().rem_euclid(i64::from(u32::MAX)) as u32,
        wait_ms: telegram.timeout_ms,
        call: Some(&call.id),
        session: Some(&call.session_id),
        stays: true,
        ends_with: None,
    };
    about_call(io, telegram, &subject_of(io, call).await, asking).await
}

/// Stores what a person who is called `by` says about a deferred call elsewhere than in the chat,
/// where the question about it is closed then. What was said there before counts.
///
/// # Errors
///
/// As [`pending::answer`].
pub async fn answer_beside_chat(
    io: &Io,
    config: &Config,
    call: &PendingCall,
    choice: ApprovalChoice,
    by: Option<&str>,
) -> Result<PendingCall, Failure> {
    let telegram = config.telegram.as_ref().filter(|_| config.enabled);
    if let Some(telegram) = telegram
        && let Some(given) = ask::known(io, telegram, &call.id).await
        && given.choice != choice
    {
        let (id, said) = (&call.id, given.choice.as_str());
        let message = format!("the call `{id}` is answered already in the chat: {said}");
        return Err(Failure::new(FailureKind::Conflict, message));
    }
    let answered = pending::answer(io, &call.id, choice, by).await?;
    if let Some(telegram) = telegram {
        let messages = messages_about(io, &subject_of(io, call).await);
        ask::settle(io, telegram, &messages, &call.id, choice).await;
    }
    Ok(answered)
}

/// Where a call in `folder` would run.
async fn place(io: &Io, folder: &str) -> CallPlace {
    let checkout = checkout::find(io, folder).await;
    let (mut repository, mut branch) = (None, None);
    if let Some(checkout) = &checkout {
        repository = checkout.web_address(io).await.map(|address| address.home().to_owned());
        branch = checkout.branch(io).await;
    }
    CallPlace { repository, folder: folder.to_owned(), branch }
}

async fn subject_of(io: &Io, call: &PendingCall) -> ApprovalSubject {
    ApprovalSubject {
        tool: call.tool.clone(),
        target: call.target.clone(),
        session_id: call.session_id.clone(),
        reason: call.reason.clone(),
        place: place(io, &call.cwd).await,
    }
}

/// What is shown of a call. The chat belongs to somebody else's service.
fn messages_about(io: &Io, subject: &ApprovalSubject) -> Messages {
    message::messages(&ApprovalSubject {
        tool: io.redacted(&subject.tool),
        target: io.redacted(&subject.target),
        session_id: subject.session_id.clone(),
        reason: io.redacted(&subject.reason),
        place: subject.place.clone(),
    })
}

async fn about_call(
    io: &Io,
    telegram: &Telegram,
    subject: &ApprovalSubject,
    asking: Asking<'_>,
) -> Resolution {
    let by = |given: &Given| Approver { stage: ApprovalStage::Person, name: given.by.clone() };
    match ask::person(io, telegram, &messages_about(io, subject), asking).await {
        Ok(given) if given.choice == ApprovalChoice::Allow => Resolution::Allow(by(&given)),
        Ok(given) => Resolution::Deny {
            by: by(&given),
            why: "a person denied it through Telegram".to_owned(),
        },
        Err(why) => Resolution::NoAnswer(why.to_string()),
    }
}

/// The folder of questions, answers and pending calls. It belongs to the person and not to one
/// checkout, as the bot does.
fn folder(io: &Io) -> String {
    let home = io.start().agentize_home().or_else(|| io.env("HOME").map(str::to_owned));
    let home = home.unwrap_or_else(|| io.start().cwd.clone());
    let home = match home.starts_with('/') {
        true => home.trim_end_matches('/').to_owned(),
        false => format!("{}/{home}", io.start().cwd.trim_end_matches('/')),
    };
    format!("{home}/.tmp/hooked-sessions/approvals")
}

pub mod consent;
pub(crate) mod gate_in_chat;
