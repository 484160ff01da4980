//! The files of agent sessions: state, issue index, and answers given a moment ago.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use onloop_permission::Decision;
use onloop_sessions::handsoff::{Session, SessionId, SessionRecord};
use onloop_syntax::limits;
use onloop_syntax::syntax::strict_json;
use onloop_syntax::time::Timestamp;

use super::document::{self, DocumentError};

/// Reads the state of a session from a file that was changed at `modified`.
///
/// # Errors
///
/// It is not a JSON object, or one of its members is missing or not of its type.
pub fn read(
    id: SessionId,
    bytes: &[u8],
    modified: Option<Timestamp>,
) -> Result<Session, DocumentError> {
    let text = std::str::from_utf8(bytes).map_err(|_| DocumentError::NotUtf8)?;
    let value = strict_json::parse(text).map_err(|error| DocumentError::Json(error.to_string()))?;
    if !value.is_object() {
        return Err(DocumentError::NotAnObject);
    }
    Ok(Session::restore(id, document::read::<SessionRecord>(&value)?, modified))
}

/// The state of a session as its file holds it.
pub fn write(session: &Session) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(session).expect("only string keys");
    json.push(b'\n');
    json
}

/// A session as `onloop session show --json` prints it: the members of its file, with its id, its
/// status and the path of the file.
pub fn shown(session: &Session, file: &str) -> Value {
    let mut members = Map::new();
    members.insert("session_id".to_owned(), json!(session.id.as_str()));
    members.insert("status".to_owned(), json!(session.status()));
    members.insert("file".to_owned(), json!(file));
    if let Ok(Value::Object(document)) = serde_json::to_value(session) {
        for (key, value) in document {
            members.entry(key).or_insert(value);
        }
    }
    Value::Object(members)
}

/// A session file that cannot be read, as `onloop session list --json` prints it.
pub fn damaged(id: &SessionId, file: &str, error: &str) -> Value {
    json!({ "session_id": id.as_str(), "status": "unreadable", "file": file, "error": error })
}

/// The index file through which an issue leads to the session that works on it.
pub fn write_index(session: &Session) -> Vec<u8> {
    let index = json!({ "session_id": session.id.as_str(), "workflow": session.workflow });
    format!("{index}\n").into_bytes()
}

/// The session that an index names; `None` if it is damaged. Indexes are only ever written from a
/// session, so a damaged one is replaced with the next.
pub fn read_index(bytes: &[u8]) -> Option<SessionId> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    SessionId::new(value["session_id"].as_str()?)
}

/// The answer to one event of a tool call, kept for the other event of the same call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedAnswer {
    /// Digest of tool and input.
    pub call: String,
    /// The decision; `Ask` when nobody could be reached.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// When.
    #[serde(with = "onloop_syntax::time::millis")]
    pub at: Timestamp,
}

/// Answers that are not too old at `now`. What is damaged is left out: without an answer the next
/// event of the call is decided anew, and nothing is allowed by that.
pub fn read_answers(bytes: &[u8], now: Timestamp) -> Vec<RememberedAnswer> {
    let list: Vec<Value> = serde_json::from_slice(bytes).unwrap_or_default();
    // An answer from the future was not given by this clock.
    let is_fresh = |answer: &RememberedAnswer| {
        answer.at <= now && now.millis_since(answer.at) <= limits::ESCALATION_MS
    };
    list.into_iter().filter_map(|item| serde_json::from_value(item).ok()).filter(is_fresh).collect()
}

/// The newest answers as a file.
pub fn write_answers(answers: &[RememberedAnswer]) -> Vec<u8> {
    let first = answers.len().saturating_sub(limits::ESCALATIONS_KEPT);
    document::line(&answers[first..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_sessions::handsoff::command::detect;

    fn id() -> SessionId {
        SessionId::new("s1").unwrap()
    }

    #[test]
    fn a_file_of_the_first_generation_is_read_and_keeps_what_we_do_not_know() {
        let file = br#"{"workflow": "issue-to-impl", "state": "initial", "continuation_count": 5,
            "issue_no": 42, "pr_number": 7, "worker": {"pid": 9}, "x": null}"#;
        let session = read(id(), file, None).unwrap();
        assert_eq!((session.continuation_count, session.issue_no), (5, Some(42)));
        assert_eq!((session.pr_number, session.updated_at), (Some(7), None));
        let written: Value = serde_json::from_slice(&write(&session)).unwrap();
        assert_eq!(written["worker"]["pid"], 9);
        assert_eq!(read(id(), &write(&session), None).unwrap().continuation_count, 5);
    }

    #[test]
    fn a_new_file_begins_with_the_members_of_the_first_generation() {
        let started = detect("/issue-to-impl 42", &[]).unwrap();
        let session = Session::begin(id(), started, Timestamp::EPOCH);
        let written: Value = serde_json::from_slice(&write(&session)).unwrap();
        let keys: Vec<&String> = written.as_object().unwrap().keys().take(4).collect();
        assert_eq!(keys, ["workflow", "state", "issue_no", "continuation_count"]);
        assert_eq!(written["state"], "initial");
        assert_eq!(read(id(), &write(&session), None).unwrap(), session);
        let index: Value = serde_json::from_slice(&write_index(&session)).unwrap();
        assert_eq!(index, json!({"session_id": "s1", "workflow": "issue-to-impl"}));
    }

    #[test]
    fn d13_counters_as_text_are_read_and_nonsense_is_named() {
        let file = br#"{"workflow": "a", "state": "done", "continuation_count": "3"}"#;
        assert_eq!(read(id(), file, None).unwrap().continuation_count, 3);
        let table: [(&[u8], &str); 6] = [
            (b"", "EOF while parsing a value at line 1 column 0"),
            (b"{", "EOF while parsing an object at line 1 column 1"),
            (b"[]", "it is not a JSON object"),
            (b"\xff", "it is not UTF-8"),
            (b"{}", "missing field `workflow`"),
            (
                br#"{"workflow": "a", "workflow": "b"}"#,
                "`workflow` is given twice at line 1 column 34",
            ),
        ];
        for (file, expected) in table {
            assert_eq!(read(id(), file, None).unwrap_err().to_string(), expected);
        }
    }

    /// What is wrong with a complete file of ours whose `member` is `value`; `null`: without it.
    fn damage(member: &str, value: Value) -> Option<String> {
        let mut file = json!({"workflow": "a", "state": "initial", "continuation_count": 0,
            "in_a_row": 0, "stalled": 0, "stop": {"place": "p", "echoes": 0},
            "updated_at": "2026-03-20T10:00:00+00:00"});
        file[member] = value;
        if file[member].is_null() {
            file.as_object_mut().unwrap().remove(member);
        }
        read(id(), file.to_string().as_bytes(), None).err().map(|damage| damage.to_string())
    }

    #[test]
    fn members_of_its_generation_are_required_and_every_value_has_its_type() {
        for member in ["workflow", "state", "continuation_count"] {
            assert_eq!(damage(member, Value::Null), Some(format!("missing field `{member}`")));
        }
        let table = [
            ("continuation_count", json!(-1), "expected a whole number from 0"),
            ("issue_no", json!("many"), "invalid digit found in string"),
            ("stalled", json!("many"), "invalid type: string \"many\", expected u32"),
            ("state", json!(3), "invalid type: integer `3`, expected a string"),
            ("run_id", json!(["r"]), "invalid type: sequence, expected a string"),
            (
                "paused_by",
                json!("me"),
                "unknown variant `me`, expected one of `question`, `person`, `silence`",
            ),
            (
                "updated_at",
                json!("yesterday"),
                "invalid value: string \"yesterday\", expected a time as in RFC 3339",
            ),
            ("stop", json!({"place": "p"}), "missing field `echoes`"),
        ];
        for (member, value, expected) in table {
            assert_eq!(damage(member, value), Some(format!("`{member}`: {expected}")));
        }
        assert_eq!(damage("stop", Value::Null), None);
    }

    #[test]
    fn answers_are_forgotten_soon() {
        let at = Timestamp::from_millis(1_000_000);
        let answer = RememberedAnswer {
            call: "c".to_owned(),
            decision: Decision::Allow,
            reason: String::new(),
            at,
        };
        let file = write_answers(std::slice::from_ref(&answer));
        assert_eq!(read_answers(&file, at), [answer]);
        let later = Timestamp::from_millis(1_000_001 + limits::ESCALATION_MS.cast_signed());
        assert_eq!(read_answers(&file, later), []);
        assert_eq!(read_answers(&file, Timestamp::from_millis(999_999)), []);
        assert_eq!(read_answers(b"torn", at), []);
    }
}
