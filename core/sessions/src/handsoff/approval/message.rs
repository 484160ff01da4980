//! Payloads of what is sent to a chat.

use serde_json::{Value, json};

use super::ApprovalChoice;
use onloop_syntax::limits;
use onloop_syntax::text;

/// The message to a person about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalSubject {
    /// Name of the tool.
    pub tool: String,
    /// What it would do, as [`whole`] shows it.
    pub target: String,
    /// The session; only its beginning is shown.
    pub session_id: String,
    /// Why neither a rule nor a language model decided.
    pub reason: String,
    /// Where the call would run.
    pub place: CallPlace,
}

/// Where a call would run, as far as it is known: a person may watch several agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallPlace {
    /// The repository in a browser.
    pub repository: Option<String>,
    /// The folder, absolute.
    pub folder: String,
    /// The branch that is checked out.
    pub branch: Option<String>,
}

/// Fields that say most about a call; they come first.
const FIRST: &[&str] = &["command", "file_path", "notebook_path", "path", "url", "query"];

/// The whole input of a call as text. Whoever approves a call must see all of it: a path says little
/// without the content that is written there.
pub fn whole(input: &Value) -> String {
    let Value::Object(fields) = input else {
        return input.to_string();
    };
    let first = FIRST.iter().find(|name| fields.get(**name).is_some_and(Value::is_string));
    let mut out = match first {
        Some(name) => fields[*name].as_str().unwrap_or_default().to_owned(),
        None => String::new(),
    };
    for (name, value) in fields.iter().filter(|(name, _)| first != Some(&name.as_str())) {
        if !out.is_empty() {
            out.push('\n');
        }
        match value {
            Value::String(text) if text.contains('\n') => {
                out.push_str(&format!("{name}:\n{text}"));
            }
            Value::String(text) => out.push_str(&format!("{name}: {text}")),
            other => out.push_str(&format!("{name}: {other}")),
        }
    }
    out
}

/// The messages of one question, in the order in which they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    /// Parts of a long target, which come before the question.
    pub parts: Vec<String>,
    /// The question, which gets the buttons.
    pub question: String,
    /// Whether all of the target is in them, and it can be allowed.
    pub complete: bool,
    /// How allowing and denying are called.
    pub labels: Labels,
}

/// How the two answers are called: on their buttons, and when they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labels {
    buttons: [&'static str; 2],
    given: [&'static str; 2],
}

impl Labels {
    /// What is shown when the answer was given.
    pub fn given(&self, choice: ApprovalChoice) -> &'static str {
        match choice {
            ApprovalChoice::Allow => self.given[0],
            ApprovalChoice::Deny => self.given[1],
        }
    }
}

const CALL_LABELS: Labels =
    Labels { buttons: ["✅ Allow", "❌ Deny"], given: ["✅ Allowed", "❌ Denied"] };
const GATE_LABELS: Labels =
    Labels { buttons: ["✅ Approve", "❌ Reject"], given: ["✅ Approved", "❌ Rejected"] };

/// Characters of a target in one message. A message may have 4096 after its markup is taken
/// out, counted in UTF-16; the rest is for the head.
const PART_UNITS: usize = 3000;

/// The messages about `subject`, as HTML of Telegram's kind.
pub fn messages(subject: &ApprovalSubject) -> Messages {
    let mut head = String::from("🔐 <b>May this run?</b>\n\n");
    head.push_str(&line("Tool", &subject.tool, 100));
    if let Some(repository) = &subject.place.repository {
        head.push_str(&line("Repository", repository, 200));
    }
    if !subject.place.folder.is_empty() {
        head.push_str(&line("Folder", &subject.place.folder, 200));
    }
    if let Some(branch) = &subject.place.branch {
        head.push_str(&line("Branch", branch, 100));
    }
    head.push_str(&line("Session", text::prefix(&subject.session_id, 8), 8));
    head.push_str(&line("Why", &subject.reason, 300));
    split(&head, &subject.target, CALL_LABELS)
}

/// The messages about a gate: who waits, and what a person has to know. Where the name of the step has to
/// be typed, which a button cannot ask for, it can only be rejected.
pub fn gate(title: &str, facts: &str, is_approvable: bool) -> Messages {
    let mut head = format!("⏸ <b>{}</b>\n", escaped(&text::ellipsis(&text::one_line(title), 200)));
    if !is_approvable {
        head.push_str(
            "\n⚠️ The risk is high: approve it where the name of the step can be typed.\n",
        );
    }
    let messages = split(&head, facts, GATE_LABELS);
    Messages { complete: messages.complete && is_approvable, ..messages }
}

fn split(head: &str, target: &str, labels: Labels) -> Messages {
    let shown = visible(target);
    let mut chunks = chunks(&shown);
    let complete = chunks.len() <= limits::APPROVAL_MESSAGES;
    chunks.truncate(limits::APPROVAL_MESSAGES);
    let count = chunks.len();
    let last = chunks.pop().unwrap_or_default();
    let parts = chunks.iter().enumerate().map(|(index, chunk)| {
        format!("Part {} of {count}\n<pre>{}</pre>", index + 1, escaped(chunk))
    });
    let parts: Vec<String> = parts.collect();
    let mut question = head.to_owned();
    if count > 1 {
        question.push_str(&format!("\nPart {count} of {count}"));
    }
    question.push_str(&format!("\n<pre>{}</pre>", escaped(last)));
    if !complete {
        question.push_str("\n⚠️ There is more than fits here, so this can only be denied.");
    }
    Messages { parts, question, complete, labels }
}

/// The question with what came of it.
pub fn closed(question: &str, outcome: &str) -> String {
    format!("{question}\n\n<b>{}</b>", escaped(outcome))
}

/// Outcome of an unanswered question.
pub const TIMED_OUT: &str = "⏰ Timed Out";
/// Outcome of a question that another channel decided, or whose subject changed.
pub const SETTLED: &str = "⏹ Settled elsewhere";
/// Outcome of a question whose asker was interrupted or could not read answers any more.
pub const GIVEN_UP: &str = "⚠️ No longer asked here";

fn line(name: &str, value: &str, limit_bytes: usize) -> String {
    let value = text::ellipsis(&text::one_line(value), limit_bytes);
    format!("{name}: <code>{}</code>\n", escaped(&value))
}

/// The target with everything in sight that could hide: control characters and characters
/// that change how their neighbours look are spelled out, not dropped.
fn visible(target: &str) -> String {
    let out = text::visible(target, &['\n']);
    // A message must not be empty, and its end must not be trimmed away unseen.
    if out.trim().is_empty() { "(nothing)".to_owned() } else { out }
}

fn chunks(text: &str) -> Vec<&str> {
    let (mut chunks, mut start, mut units) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        if units + c.len_utf16() > PART_UNITS {
            chunks.push(&text[start..at]);
            (start, units) = (at, 0);
        }
        units += c.len_utf16();
    }
    chunks.push(&text[start..]);
    chunks
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Payload of `sendMessage` for one part.
pub fn send_part(chat_id: i64, html: &str) -> Value {
    json!({ "chat_id": chat_id, "text": html, "parse_mode": "HTML" })
}

/// Payload of `sendMessage` for the question.
pub fn send_question(chat_id: i64, messages: &Messages, nonce: &str) -> Value {
    let button = |label: &str, choice: ApprovalChoice| json!({ "text": label, "callback_data": format!("{}:{nonce}", choice.as_str()) });
    let [allow, deny] = messages.labels.buttons;
    let mut row = vec![button(deny, ApprovalChoice::Deny)];
    if messages.complete {
        row.insert(0, button(allow, ApprovalChoice::Allow));
    }
    json!({
        "chat_id": chat_id,
        "text": messages.question,
        "parse_mode": "HTML",
        "reply_markup": { "inline_keyboard": [row] },
    })
}

/// Payload of `editMessageText`; without buttons, so that they vanish.
pub fn edit(chat_id: i64, message_id: i64, html: &str) -> Value {
    json!({ "chat_id": chat_id, "message_id": message_id, "text": html, "parse_mode": "HTML" })
}

/// Payload of `answerCallbackQuery`.
pub fn acknowledge(callback_id: &str, text: &str) -> Value {
    json!({ "callback_query_id": callback_id, "text": text })
}

/// Payload of `sendMessage` for the reply to a command.
pub fn confirm(chat_id: i64, reply_to: i64, text: &str) -> Value {
    json!({ "chat_id": chat_id, "text": text, "reply_to_message_id": reply_to })
}

/// Payload of `getUpdates`.
pub fn updates(offset: i64, limit: usize, wait_sec: u64) -> Value {
    json!({
        "offset": offset,
        "limit": limit,
        "timeout": wait_sec,
        "allowed_updates": ["message", "callback_query"],
    })
}
