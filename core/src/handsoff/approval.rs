//! A person answers from a phone whether a tool call may run.
//!
//! Everything here is pure: what is sent ([`message`]), what comes back ([`updates`]), and
//! what an update means for the questions that wait ([`judge`]). Several processes may wait
//! for answers through one bot, and only one of them can read its updates; so a question and
//! its answer are documents ([`crate::documents::approval`]) that whoever reads passes on.
//!
//! An answer counts only when chat and person are the configured ones, when a button carries
//! the question's own unguessable number or a text replies to the question's own message, and
//! only once. An answer is sealed with the bot's token, so that nobody else can leave one.

pub mod message;
pub mod updates;

use sha2::{Digest, Sha256};

use crate::handsoff::config::Token;
use updates::{Answer, Incoming};

/// What a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The call may run.
    Allow,
    /// It may not.
    Deny,
}

impl Choice {
    /// As it is written in buttons and documents.
    pub fn as_str(self) -> &'static str {
        match self {
            Choice::Allow => "allow",
            Choice::Deny => "deny",
        }
    }

    /// The choice that is written `word`.
    pub fn named(word: &str) -> Option<Choice> {
        match word {
            "allow" => Some(Choice::Allow),
            "deny" => Some(Choice::Deny),
            _ => None,
        }
    }

    /// What the person reads when it was taken.
    pub fn taken(self) -> &'static str {
        match self {
            Choice::Allow => "✅ Allowed",
            Choice::Deny => "❌ Denied",
        }
    }
}

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Thirty-two hexadecimal digits that nobody can guess; chosen before it is sent.
    pub nonce: String,
    /// The chat it was sent to.
    pub chat_id: i64,
    /// Who may answer.
    pub allowed_user_ids: Vec<i64>,
    /// Its messages; none while they are being sent.
    pub message_ids: Vec<i64>,
    /// The bot's name, which a command may carry; empty while it is not known.
    pub bot: String,
    /// When nobody waits any more, in milliseconds since 1970.
    pub until_ms: i64,
    /// Whether all of it was shown; otherwise it can only be denied.
    pub complete: bool,
}

/// What an update leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The question has its answer.
    Decide {
        /// Which question.
        nonce: String,
        /// The answer.
        choice: Choice,
        /// Whose it is.
        by: i64,
    },
    /// Ends the waiting of a pressed button and shows a line to whoever pressed it.
    Acknowledge {
        /// The press.
        callback_id: String,
        /// The line.
        text: &'static str,
    },
    /// Answers a text with a text.
    Confirm {
        /// In which chat.
        chat_id: i64,
        /// To which message.
        reply_to: i64,
        /// The text.
        text: &'static str,
    },
}

const OVER: &str = "This question is over.";
const NOT_YOU: &str = "You may not answer this.";
const NOT_SHOWN: &str = "The call is too long to be shown, so it can only be denied.";

/// What `incoming` means for the questions that wait at `now_ms`. `decided` says whether a
/// question already has its answer.
pub fn judge(
    incoming: &Incoming,
    questions: &[Question],
    now_ms: i64,
    decided: impl Fn(&str) -> bool,
) -> Vec<Act> {
    match &incoming.answer {
        Answer::Nothing => Vec::new(),
        Answer::Button { callback_id, choice, nonce } => {
            let say = |text| vec![Act::Acknowledge { callback_id: callback_id.clone(), text }];
            let same_chat = |question: &&Question| incoming.chat_id == Some(question.chat_id);
            let Some(question) =
                questions.iter().filter(same_chat).find(|question| question.nonce == *nonce)
            else {
                // Another chat is none of our business, not even for an acknowledgement.
                let known = questions.iter().any(|q| incoming.chat_id == Some(q.chat_id));
                return if known { say(OVER) } else { Vec::new() };
            };
            let own_message = match incoming.message_id {
                Some(id) => question.message_ids.is_empty() || question.message_ids.contains(&id),
                None => false,
            };
            if !question.may_answer(incoming.user_id) {
                return say(NOT_YOU);
            }
            if !own_message || question.until_ms <= now_ms || decided(nonce) {
                return say(OVER);
            }
            if *choice == Choice::Allow && !question.complete {
                return say(NOT_SHOWN);
            }
            let mut acts = say(choice.taken());
            acts.extend(question.decide(*choice, incoming.user_id));
            acts
        }
        Answer::Command { choice, bot, reply_to } => {
            let is_meant = |question: &&Question| {
                incoming.chat_id == Some(question.chat_id)
                    && question.message_ids.contains(reply_to)
                    && bot.as_ref().is_none_or(|bot| bot.eq_ignore_ascii_case(&question.bot))
                    && question.may_answer(incoming.user_id)
            };
            let (Some(question), Some(message_id)) =
                (questions.iter().find(is_meant), incoming.message_id)
            else {
                return Vec::new();
            };
            let confirm =
                |text| Act::Confirm { chat_id: question.chat_id, reply_to: message_id, text };
            if question.until_ms <= now_ms || decided(&question.nonce) {
                return vec![confirm(OVER)];
            }
            if *choice == Choice::Allow && !question.complete {
                return vec![confirm(NOT_SHOWN)];
            }
            let mut acts: Vec<Act> = question.decide(*choice, incoming.user_id).collect();
            acts.push(confirm(choice.taken()));
            acts
        }
    }
}

impl Question {
    fn may_answer(&self, user_id: Option<i64>) -> bool {
        user_id.is_some_and(|id| self.allowed_user_ids.contains(&id))
    }

    fn decide(&self, choice: Choice, by: Option<i64>) -> impl Iterator<Item = Act> {
        let nonce = self.nonce.clone();
        by.map(|by| Act::Decide { nonce, choice, by }).into_iter()
    }
}

/// The number of a question, from the randomness of the process that asks it.
pub fn nonce(random: [u8; 16], asked_before: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(b"onloop question");
    hash.update(random);
    hash.update(asked_before.to_be_bytes());
    hexadecimal(&hash.finalize()[..16])
}

/// Proves that whoever wrote an answer knew the bot's token: an HMAC over its content.
pub fn seal(token: &Token, nonce: &str, choice: Choice, by: i64) -> String {
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
        .chain_update(format!("onloop answer\n{nonce}\n{}\n{by}", choice.as_str()))
        .finalize();
    let outer = Sha256::new().chain_update(key.map(|byte| byte ^ 0x5c)).chain_update(inner);
    hexadecimal(&outer.finalize())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
