//! A person answers from a phone whether a tool call may run.
//!
//! Everything here is pure: what is sent ([`message`]), what comes back ([`updates`]), and
//! what an update means for the questions that wait ([`judge`]). Several processes may wait
//! for answers through one bot, and only one of them can read its updates; so a question and
//! its answer are stored as documents through which the reader passes answers on.
//!
//! An answer counts only when chat and person are the configured ones, when a button carries
//! the question's own unguessable number or a text replies to the question's own message, and
//! only once. An answer is sealed with the bot's token, so that nobody else can leave one.

pub mod message;
pub mod updates;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::handsoff::config::BotToken;
use onloop_syntax::text::{hex, words};
use updates::{ChatAction, ChatUpdate};

words! {
    /// A person's answer about a call.
    pub enum ApprovalChoice {
        /// The call may run.
        Allow = "allow",
        /// It may not.
        Deny = "deny",
    }
}

impl ApprovalChoice {
    /// How the chat confirms it.
    pub fn confirmation(self) -> &'static str {
        match self {
            ApprovalChoice::Allow => "✅ Allowed",
            ApprovalChoice::Deny => "❌ Denied",
        }
    }
}

words! {
    /// Who decides about a call, in the order in which they are asked.
    pub enum ApprovalStage {
        /// A rule.
        Rule = "rule",
        /// A language model.
        Model = "model",
        /// A person.
        Person = "person",
    }
}

/// Who has decided about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approver {
    /// What they are.
    pub stage: ApprovalStage,
    /// The name of the rule, of the model, or of the person, on one line.
    #[serde(rename = "by")]
    pub name: String,
}

impl std::fmt::Display for Approver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.stage.as_str(), self.name)
    }
}

/// A question in a chat that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatQuestion {
    /// Its id: 32 unpredictable hexadecimal digits, chosen before it is sent.
    pub nonce: String,
    /// The chat it was sent to.
    pub chat_id: i64,
    /// Who may answer.
    pub allowed_user_ids: Vec<i64>,
    /// Ids of its messages; empty while they are being sent.
    pub message_ids: Vec<i64>,
    /// The bot's user name, which a command may name; empty while it is not known.
    pub bot: String,
    /// When it expires, in milliseconds since 1970.
    pub until_ms: i64,
    /// Whether all of it was shown; otherwise it can only be denied.
    pub complete: bool,
    /// The call that it is about, by the id under which calls wait; `None`: it is about something
    /// else.
    // Questions of older versions have neither this nor what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Whether its message may be there twice, because the chat did not say that it had got it.
    #[serde(default)]
    pub repeated: bool,
}

/// What has to be done because of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatReaction {
    /// Stores the answer to a question.
    Decide {
        /// The question.
        nonce: String,
        /// The answer.
        choice: ApprovalChoice,
        /// The user who gave it.
        by: i64,
        /// What they are called.
        name: String,
    },
    /// Answers the press of a button with a line for the person who pressed it.
    Acknowledge {
        /// Telegram's id of the press.
        callback_id: String,
        /// What is shown.
        text: &'static str,
    },
    /// Replies to a command that was written as a message.
    Confirm {
        /// The chat.
        chat_id: i64,
        /// The message with the command.
        reply_to: i64,
        /// The reply.
        text: &'static str,
    },
}

const OVER: &str = "This question is over.";
const NOT_YOU: &str = "You may not answer this.";
const NOT_SHOWN: &str = "The call is too long to be shown, so it can only be denied.";

/// What `update` means for the questions that wait at `now_ms`. `decided` says whether a
/// question already has its answer.
pub fn judge(
    update: &ChatUpdate,
    questions: &[ChatQuestion],
    now_ms: i64,
    decided: impl Fn(&str) -> bool,
) -> Vec<ChatReaction> {
    match &update.action {
        ChatAction::Nothing => Vec::new(),
        ChatAction::Button { callback_id, choice, nonce } => {
            let say =
                |text| vec![ChatReaction::Acknowledge { callback_id: callback_id.clone(), text }];
            let same_chat = |question: &&ChatQuestion| update.chat_id == Some(question.chat_id);
            let Some(question) =
                questions.iter().filter(same_chat).find(|question| question.nonce == *nonce)
            else {
                // Presses in other chats are not even acknowledged.
                let known = questions.iter().any(|q| update.chat_id == Some(q.chat_id));
                return if known { say(OVER) } else { Vec::new() };
            };
            let own_message = match update.message_id {
                Some(id) => {
                    question.repeated
                        || question.message_ids.is_empty()
                        || question.message_ids.contains(&id)
                }
                None => false,
            };
            if !question.may_answer(update.user_id) {
                return say(NOT_YOU);
            }
            if !own_message || question.until_ms <= now_ms || decided(nonce) {
                return say(OVER);
            }
            if *choice == ApprovalChoice::Allow && !question.complete {
                return say(NOT_SHOWN);
            }
            let mut acts = say(choice.confirmation());
            acts.extend(question.decide(*choice, update));
            acts
        }
        ChatAction::Command { choice, bot, reply_to } => {
            let is_meant = |question: &&ChatQuestion| {
                update.chat_id == Some(question.chat_id)
                    && question.message_ids.contains(reply_to)
                    && bot.as_ref().is_none_or(|bot| bot.eq_ignore_ascii_case(&question.bot))
                    && question.may_answer(update.user_id)
            };
            let (Some(question), Some(message_id)) =
                (questions.iter().find(is_meant), update.message_id)
            else {
                return Vec::new();
            };
            let confirm = |text| ChatReaction::Confirm {
                chat_id: question.chat_id,
                reply_to: message_id,
                text,
            };
            if question.until_ms <= now_ms || decided(&question.nonce) {
                return vec![confirm(OVER)];
            }
            if *choice == ApprovalChoice::Allow && !question.complete {
                return vec![confirm(NOT_SHOWN)];
            }
            let mut acts: Vec<ChatReaction> = question.decide(*choice, update).collect();
            acts.push(confirm(choice.confirmation()));
            acts
        }
    }
}

impl ChatQuestion {
    fn may_answer(&self, user_id: Option<i64>) -> bool {
        user_id.is_some_and(|id| self.allowed_user_ids.contains(&id))
    }

    fn decide(
        &self,
        choice: ApprovalChoice,
        update: &ChatUpdate,
    ) -> impl Iterator<Item = ChatReaction> {
        let (nonce, name) = (self.nonce.clone(), update.user_name.clone());
        update.user_id.map(|by| ChatReaction::Decide { nonce, choice, by, name }).into_iter()
    }
}

/// The id of a question, from the random bytes of the process that asks it. `asked_before` keeps
/// those of one process apart.
pub fn nonce(random: [u8; 16], asked_before: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(b"onloop question");
    hash.update(random);
    hash.update(asked_before.to_be_bytes());
    hex(&hash.finalize()[..16])
}

/// An HMAC over an answer, in hexadecimal: whoever wrote the answer knew the bot's token. `by` is
/// the user who gave it, `name` what they are called.
pub fn seal(
    token: &BotToken,
    nonce: &str,
    choice: ApprovalChoice,
    (by, name): (i64, &str),
) -> String {
    const BLOCK: usize = 64;
    let mut key = [0_u8; BLOCK];
    let token = token.expose().as_bytes();
    if token.len() > BLOCK {
        key[..32].copy_from_slice(&Sha256::digest(token));
    } else {
        key[..token.len()].copy_from_slice(token);
    }
    let inner = Sha256::new()
        .chain_update(key.map(|byte| byte ^ 0x36))
        .chain_update(format!("onloop answer\n{nonce}\n{}\n{by}\n{name}", choice.as_str()))
        .finalize();
    let outer = Sha256::new().chain_update(key.map(|byte| byte ^ 0x5c)).chain_update(inner);
    hex(&outer.finalize())
}

#[cfg(test)]
mod tests;
