//! Telegram's updates of a chat, as far as they can be answers.

use serde_json::Value;

use super::ApprovalChoice;
use onloop_syntax::text;

/// Longest name of a user that is kept.
const NAME_BYTES: usize = 80;

/// One update, reduced to what decides whether it is an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatUpdate {
    /// Telegram's number of it; the next `getUpdates` starts after it.
    pub update_id: i64,
    /// The chat it happened in.
    pub chat_id: Option<i64>,
    /// Who did it.
    pub user_id: Option<i64>,
    /// What they are called, on one line; empty where Telegram does not say.
    pub user_name: String,
    /// The message with the pressed button, or the message that was written.
    pub message_id: Option<i64>,
    /// What was done.
    pub action: ChatAction,
}

/// An action of a person in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatAction {
    /// Nothing that can be an answer.
    Nothing,
    /// A button of ours was pressed.
    Button {
        /// Telegram's id of the press.
        callback_id: String,
        /// The answer that the button stands for.
        choice: ApprovalChoice,
        /// The question that the button belongs to.
        nonce: String,
    },
    /// `/allow` or `/deny` was written as a reply.
    Command {
        /// Which of the two.
        choice: ApprovalChoice,
        /// The bot it was addressed to, if any: `/allow@bot`.
        bot: Option<String>,
        /// The message that it replies to.
        reply_to: i64,
    },
}

/// The `result` of a response of Telegram's Bot API, if it says `ok`.
pub fn result(body: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let mut fields = match value {
        Value::Object(fields) => fields,
        _ => return None,
    };
    (fields.get("ok") == Some(&Value::Bool(true))).then(|| fields.remove("result"))?
}

/// How long Telegram asks us to wait before the next call, in milliseconds.
pub fn retry_after_ms(body: &[u8]) -> Option<u64> {
    let value: Value = serde_json::from_slice(body).ok()?;
    value["parameters"]["retry_after"].as_u64().map(|seconds| seconds.saturating_mul(1000))
}

/// All updates in a response to `getUpdates`, without those that have no number. `None` if it is
/// not such a response.
pub fn read(body: &[u8]) -> Option<Vec<ChatUpdate>> {
    match result(body)? {
        Value::Array(updates) => Some(updates.iter().filter_map(chat_update).collect()),
        _ => None,
    }
}

fn chat_update(update: &Value) -> Option<ChatUpdate> {
    let update_id = update["update_id"].as_i64()?;
    let press = &update["callback_query"];
    // Edited messages and channel posts have other names and do not count as answers.
    let (message, from, action) = if press.is_object() {
        (&press["message"], &press["from"], button(press))
    } else {
        let message = &update["message"];
        (message, &message["from"], command(message))
    };
    Some(ChatUpdate {
        update_id,
        chat_id: message["chat"]["id"].as_i64(),
        user_id: from["id"].as_i64(),
        user_name: name_of(from),
        message_id: message["message_id"].as_i64(),
        action: action.unwrap_or(ChatAction::Nothing),
    })
}

/// First and last name, else the name that the user has chosen.
fn name_of(from: &Value) -> String {
    let names = ["first_name", "last_name"].iter().filter_map(|key| from[*key].as_str());
    let names: Vec<&str> = names.map(str::trim).filter(|name| !name.is_empty()).collect();
    let name = match (names.is_empty(), from["username"].as_str()) {
        (true, Some(name)) => format!("@{name}"),
        (true, None) | (false, _) => names.join(" "),
    };
    text::ellipsis(&text::one_line(&name), NAME_BYTES)
}

fn button(press: &Value) -> Option<ChatAction> {
    let (word, nonce) = press["data"].as_str()?.split_once(':')?;
    let is_nonce = nonce.len() == 32 && nonce.bytes().all(|byte| byte.is_ascii_hexdigit());
    let answer = ChatAction::Button {
        callback_id: press["id"].as_str()?.to_owned(),
        choice: word.parse().ok()?,
        nonce: nonce.to_owned(),
    };
    is_nonce.then_some(answer)
}

fn command(message: &Value) -> Option<ChatAction> {
    let word = message["text"].as_str()?.split_whitespace().next()?;
    let word = word.strip_prefix('/')?;
    let (word, bot) = match word.split_once('@') {
        Some((word, bot)) => (word, Some(bot.to_owned())),
        None => (word, None),
    };
    let choice = word.to_ascii_lowercase().parse().ok()?;
    // A reply across chats names a message that may have the number of one of ours.
    let replied = &message["reply_to_message"];
    let same_chat = replied["chat"]["id"] == message["chat"]["id"];
    let reply_to = replied["message_id"].as_i64().filter(|_| same_chat)?;
    Some(ChatAction::Command { choice, bot, reply_to })
}
