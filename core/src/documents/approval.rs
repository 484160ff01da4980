//! Documents of questions that wait for an answer, of their answers, and of calls that wait
//! without a process: `<home>/.tmp/hooked-sessions/approvals/`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::handsoff::approval::{Choice, Question};

/// `questions/<nonce>.json`.
#[derive(Serialize, Deserialize)]
struct QuestionDocument {
    nonce: String,
    chat_id: i64,
    allowed_user_ids: Vec<i64>,
    message_ids: Vec<i64>,
    bot: String,
    until_ms: i64,
    complete: bool,
}

/// A question as a document.
pub fn write_question(question: &Question) -> Vec<u8> {
    let Question { nonce, chat_id, allowed_user_ids, message_ids, bot, until_ms, complete } =
        question.clone();
    to_bytes(&QuestionDocument {
        nonce,
        chat_id,
        allowed_user_ids,
        message_ids,
        bot,
        until_ms,
        complete,
    })
}

/// The question in a document; `None`: it is none.
pub fn read_question(bytes: &[u8]) -> Option<Question> {
    let document: QuestionDocument = serde_json::from_slice(bytes).ok()?;
    let QuestionDocument { nonce, chat_id, allowed_user_ids, message_ids, bot, until_ms, complete } =
        document;
    Some(Question { nonce, chat_id, allowed_user_ids, message_ids, bot, until_ms, complete })
}

/// `answers/<nonce>.json`: what a person said, sealed by whoever read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// What was said.
    pub choice: Choice,
    /// Who said it.
    pub by: i64,
    /// See [`crate::handsoff::approval::seal`].
    pub seal: String,
}

#[derive(Serialize, Deserialize)]
struct AnswerDocument {
    choice: String,
    by: i64,
    seal: String,
}

/// An answer as a document.
pub fn write_answer(answer: &Answered) -> Vec<u8> {
    let Answered { choice, by, seal } = answer.clone();
    to_bytes(&AnswerDocument { choice: choice.as_str().to_owned(), by, seal })
}

/// The answer in a document; `None`: it is none.
pub fn read_answer(bytes: &[u8]) -> Option<Answered> {
    let AnswerDocument { choice, by, seal } = serde_json::from_slice(bytes).ok()?;
    Some(Answered { choice: Choice::named(&choice)?, by, seal })
}

/// `offset.json`: where the next question for updates begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// Number of the first update that was not read yet.
    pub next: i64,
    /// When that was so, in milliseconds since 1970.
    pub at_ms: i64,
}

/// An offset as a document.
pub fn write_offset(offset: Offset) -> Vec<u8> {
    to_bytes(&offset)
}

/// The offset in a document; `None`: it is none.
pub fn read_offset(bytes: &[u8]) -> Option<Offset> {
    serde_json::from_slice(bytes).ok()
}

/// `pending/<id>.json`: a call that waits while no process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCall {
    /// Names the call: the same call of the same session has the same.
    pub id: String,
    /// The session that made it.
    pub session_id: String,
    /// Where that session works.
    pub cwd: String,
    /// The tool.
    pub tool: String,
    /// What it would do.
    pub target: String,
    /// Why nobody decided.
    pub reason: String,
    /// When it was put off, in milliseconds since 1970.
    pub since_ms: i64,
    /// What a person said, and when.
    pub answer: Option<(Choice, i64)>,
}

#[derive(Serialize, Deserialize)]
struct PendingDocument {
    id: String,
    session_id: String,
    cwd: String,
    tool: String,
    target: String,
    reason: String,
    since_ms: i64,
    answer: Option<String>,
    answered_ms: Option<i64>,
}

/// A pending call as a document.
pub fn write_pending(call: &PendingCall) -> Vec<u8> {
    to_bytes(&to_document(call))
}

/// Pending calls as one JSON document for whoever asked.
pub fn pending_list(calls: &[PendingCall]) -> Value {
    let documents: Vec<PendingDocument> = calls.iter().map(to_document).collect();
    serde_json::to_value(documents).expect("the documents have only string keys")
}

fn to_document(call: &PendingCall) -> PendingDocument {
    let PendingCall { id, session_id, cwd, tool, target, reason, since_ms, answer } = call.clone();
    PendingDocument {
        id,
        session_id,
        cwd,
        tool,
        target,
        reason,
        since_ms,
        answer: answer.map(|(choice, _)| choice.as_str().to_owned()),
        answered_ms: answer.map(|(_, at_ms)| at_ms),
    }
}

/// The pending call in a document; `None`: it is none.
pub fn read_pending(bytes: &[u8]) -> Option<PendingCall> {
    let document: PendingDocument = serde_json::from_slice(bytes).ok()?;
    let answer = match (document.answer, document.answered_ms) {
        (None, _) => None,
        (Some(word), at_ms) => Some((Choice::named(&word)?, at_ms?)),
    };
    let PendingDocument { id, session_id, cwd, tool, target, reason, since_ms, .. } = document;
    Some(PendingCall { id, session_id, cwd, tool, target, reason, since_ms, answer })
}

fn to_bytes(document: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(document).expect("the document has only string keys");
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_as_they_were_written() {
        let question = Question {
            nonce: "n".to_owned(),
            chat_id: -1,
            allowed_user_ids: vec![2],
            message_ids: vec![3],
            bot: "b".to_owned(),
            until_ms: 4,
            complete: true,
        };
        assert_eq!(read_question(&write_question(&question)), Some(question));
        let answer = Answered { choice: Choice::Deny, by: 5, seal: "s".to_owned() };
        assert_eq!(read_answer(&write_answer(&answer)), Some(answer));
        let offset = Offset { next: -7, at_ms: 5 };
        assert_eq!(read_offset(&write_offset(offset)), Some(offset));
        let call = PendingCall {
            id: "i".to_owned(),
            session_id: "s".to_owned(),
            cwd: "/".to_owned(),
            tool: "Bash".to_owned(),
            target: "ls".to_owned(),
            reason: "r".to_owned(),
            since_ms: 1,
            answer: None,
        };
        let answered = PendingCall { answer: Some((Choice::Allow, 9)), ..call.clone() };
        assert_eq!(read_pending(&write_pending(&call)), Some(call));
        assert_eq!(read_pending(&write_pending(&answered)), Some(answered));
    }

    #[test]
    fn damaged_documents_answer_nothing() {
        for bytes in [
            &b""[..],
            b"{",
            b"[]",
            b"{\"choice\":\"allow\"}",
            b"{\"choice\":\"yes\",\"by\":1,\"seal\":\"\"}",
        ] {
            assert_eq!(read_answer(bytes), None);
            assert_eq!(read_question(bytes), None);
            assert_eq!(read_offset(bytes), None);
            assert_eq!(read_pending(bytes), None);
        }
    }
}
