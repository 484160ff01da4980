//! Documents of questions that wait for an answer, of their answers, and of calls that wait
//! without a process: `<home>/.tmp/hooked-sessions/approvals/`.

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document;

use onloop_sessions::handsoff::approval::{ApprovalChoice, ChatQuestion};

/// A question as a document, `questions/<nonce>.json`.
pub fn write_question(question: &ChatQuestion) -> Vec<u8> {
    document::line(question)
}

/// The question in a document.
///
/// # Errors
///
/// When a member is missing or not of its type.
pub fn read_question(bytes: &[u8]) -> serde_json::Result<ChatQuestion> {
    serde_json::from_slice(bytes)
}

/// `answers/<nonce>.json`: a person's answer, sealed by the process that read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedAnswer {
    /// The answer.
    pub choice: ApprovalChoice,
    /// The user who gave it.
    pub by: i64,
    /// What they are called; empty where that is not known.
    pub name: String,
    /// See [`onloop_sessions::handsoff::approval::seal`].
    pub seal: String,
}

/// An answer as a document.
pub fn write_answer(answer: &SealedAnswer) -> Vec<u8> {
    document::line(answer)
}

/// The answer in a document. Whether it counts, its seal decides.
///
/// # Errors
///
/// When a member is missing or not of its type.
pub fn read_answer(bytes: &[u8]) -> serde_json::Result<SealedAnswer> {
    serde_json::from_slice(bytes)
}

/// `offset.json`: where the next `getUpdates` starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offset {
    /// Number of the first update that has not been read.
    pub next: i64,
    /// When it was stored, in milliseconds since 1970.
    pub at_ms: i64,
}

/// An offset as a document.
pub fn write_offset(offset: Offset) -> Vec<u8> {
    document::line(&offset)
}

/// The offset in a document.
///
/// # Errors
///
/// When a member is missing or not of its type.
pub fn read_offset(bytes: &[u8]) -> serde_json::Result<Offset> {
    serde_json::from_slice(bytes)
}

/// `pending/<id>.json`: a call that waits while no process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCall {
    /// Its id, which is the same whenever the session makes the same call.
    pub id: String,
    /// The session that made it.
    pub session_id: String,
    /// Where that session works.
    pub cwd: String,
    /// The tool.
    pub tool: String,
    /// What it would do, whole.
    pub target: String,
    /// Why neither a rule nor anybody who was asked decided.
    pub reason: String,
    /// When it was deferred, in milliseconds since 1970.
    pub since_ms: i64,
    /// A person's answer, and when it was given, in milliseconds since 1970.
    pub answer: Option<(ApprovalChoice, i64)>,
    /// What the person who gave it is called, where that is known.
    pub answered_by: Option<String>,
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
    // Both are written as `null` until there is an answer: a document without them is damaged.
    #[serde(deserialize_with = "Option::deserialize")]
    answer: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    answered_ms: Option<i64>,
    // Older versions did not keep it.
    #[serde(default)]
    answered_by: Option<String>,
}

/// A pending call as a document.
pub fn write_pending(call: &PendingCall) -> Vec<u8> {
    document::line(&to_document(call))
}

/// Pending calls as `onloop approve --json` prints them.
pub fn pending_list(calls: &[PendingCall]) -> Value {
    let documents: Vec<PendingDocument> = calls.iter().map(to_document).collect();
    serde_json::to_value(documents).expect("the documents have only string keys")
}

fn to_document(call: &PendingCall) -> PendingDocument {
    let call = call.clone();
    PendingDocument {
        id: call.id,
        session_id: call.session_id,
        cwd: call.cwd,
        tool: call.tool,
        target: call.target,
        reason: call.reason,
        since_ms: call.since_ms,
        answer: call.answer.map(|(choice, _)| choice.as_str().to_owned()),
        answered_ms: call.answer.map(|(_, at_ms)| at_ms),
        answered_by: call.answered_by,
    }
}

/// The pending call in a document.
///
/// # Errors
///
/// When a member is missing or not of its type.
pub fn read_pending(bytes: &[u8]) -> serde_json::Result<PendingCall> {
    let document: PendingDocument = serde_json::from_slice(bytes)?;
    let answer = match (document.answer, document.answered_ms) {
        (None, None) => None,
        (Some(choice), Some(at_ms)) => Some((read_choice(&choice)?, at_ms)),
        (None, Some(_)) | (Some(_), None) => {
            return Err(serde_json::Error::custom("`answer` and `answered_ms` go together"));
        }
    };
    Ok(PendingCall {
        id: document.id,
        session_id: document.session_id,
        cwd: document.cwd,
        tool: document.tool,
        target: document.target,
        reason: document.reason,
        since_ms: document.since_ms,
        answer,
        answered_by: document.answered_by,
    })
}

fn read_choice(word: &str) -> serde_json::Result<ApprovalChoice> {
    let wrong = |_| serde_json::Error::custom("the answer is neither `allow` nor `deny`");
    word.parse().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_read_as_they_were_written() {
        let question = ChatQuestion {
            nonce: "n".to_owned(),
            chat_id: -1,
            allowed_user_ids: vec![2],
            message_ids: vec![3],
            bot: "b".to_owned(),
            until_ms: 4,
            complete: true,
            call: Some("c".to_owned()),
            repeated: true,
        };
        assert_eq!(read_question(&write_question(&question)).unwrap(), question);
        let answer = SealedAnswer {
            choice: ApprovalChoice::Deny,
            by: 5,
            name: "Ann".to_owned(),
            seal: "s".to_owned(),
        };
        assert_eq!(read_answer(&write_answer(&answer)).unwrap(), answer);
        let offset = Offset { next: -7, at_ms: 5 };
        assert_eq!(read_offset(&write_offset(offset)).unwrap(), offset);
        let call = PendingCall {
            id: "i".to_owned(),
            session_id: "s".to_owned(),
            cwd: "/".to_owned(),
            tool: "Bash".to_owned(),
            target: "ls".to_owned(),
            reason: "r".to_owned(),
            since_ms: 1,
            answer: None,
            answered_by: None,
        };
        let answered = PendingCall {
            answer: Some((ApprovalChoice::Allow, 9)),
            answered_by: Some("Ann".to_owned()),
            ..call.clone()
        };
        assert_eq!(read_pending(&write_pending(&call)).unwrap(), call);
        assert_eq!(read_pending(&write_pending(&answered)).unwrap(), answered);
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
            assert!(read_answer(bytes).is_err());
            assert!(read_question(bytes).is_err());
            assert!(read_offset(bytes).is_err());
            assert!(read_pending(bytes).is_err());
        }
    }

    #[test]
    fn every_member_is_required_and_named() {
        let pending = serde_json::json!({"id": "i", "session_id": "s", "cwd": "/", "tool": "Bash",
            "target": "ls", "reason": "r", "since_ms": 1, "answer": null, "answered_ms": null});
        let damage = |member: &str, value: Option<Value>| {
            let mut document = pending.clone();
            match value {
                Some(value) => document[member] = value,
                None => drop(document.as_object_mut().unwrap().remove(member)),
            }
            read_pending(document.to_string().as_bytes()).map_err(|error| error.to_string())
        };
        assert!(damage("answer", Some(Value::Null)).is_ok());
        for member in pending.as_object().unwrap().keys() {
            let error = damage(member, None).unwrap_err();
            assert!(error.starts_with(&format!("missing field `{member}`")), "{error}");
        }
        let error = damage("answer", Some("allow".into())).unwrap_err();
        assert_eq!(error, "`answer` and `answered_ms` go together");
        let mut answered = pending.clone();
        (answered["answer"], answered["answered_ms"]) = ("yes".into(), 1.into());
        let error = read_pending(answered.to_string().as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "the answer is neither `allow` nor `deny`");
    }
}
