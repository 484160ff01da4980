//! The files of agent sessions: state, issue index, and answers given a moment ago.

use serde_json::{Map, Value, json};

use onloop_permission::Decision;
use onloop_sessions::handsoff::{CountedStop, Pause, Session, SessionId, SessionState};
use onloop_syntax::limits;
use onloop_syntax::syntax::strict_json;
use onloop_syntax::time::Timestamp;

/// Why a session's file cannot be read. Members are named as in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamagedSession {
    /// It is not UTF-8.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It is not JSON; the parser's message.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// It is JSON, but not an object.
    #[error("it is not a JSON object")]
    NotAnObject,
    /// A member that every file of its generation has is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A member has a value of another type than `expected`.
    #[error("`{member}` is not {expected}")]
    Unexpected {
        /// The member.
        member: &'static str,
        /// What its value must be, with an article.
        expected: &'static str,
    },
}

/// Reads the state of a session. Every file has `workflow`, `state` and `continuation_count`;
/// the first generation also wrote `issue_no`, `pr_no` and `pr_number` where they were known. Files
/// that we wrote have `updated_at`, and then `in_a_row` and `stalled`.
///
/// # Errors
///
/// When it is not a JSON object, or one of its members is missing or not of its type.
pub fn read(id: SessionId, bytes: &[u8]) -> Result<Session, DamagedSession> {
    let text = std::str::from_utf8(bytes).map_err(|_| DamagedSession::NotUtf8)?;
    let value =
        strict_json::parse(text).map_err(|error| DamagedSession::NotJson(error.to_string()))?;
    let Value::Object(mut members) = value else {
        return Err(DamagedSession::NotAnObject);
    };
    let mut members = Members(&mut members);
    let updated_at = members.time("updated_at")?;
    let count = match updated_at {
        Some(_) => Members::required_count,
        None => Members::count,
    };
    Ok(Session {
        id,
        workflow: members.required("workflow", Members::text)?,
        state: SessionState::from(members.required("state", Members::text)?.as_str()),
        continuation_count: members.required_count("continuation_count")?,
        issue_no: members.number("issue_no")?,
        pr_no: members.number("pr_no")?,
        pr_number: members.number("pr_number")?,
        run_id: members.text("run_id")?,
        begins_run_at: members.time("begins_run_at")?,
        run_revision: members.number("run_revision")?,
        pause: members.pause()?,
        in_a_row: count(&mut members, "in_a_row")?,
        stalled: count(&mut members, "stalled")?,
        stop: match members.text("stop_place")? {
            Some(place) => {
                Some(CountedStop { place, echoes: members.required_count("stop_echoes")? })
            }
            None => None,
        },
        last_message: members.text("last_message")?,
        last_prompt: members.text("last_prompt")?,
        prompt_id: members.text("prompt_id")?,
        reason: members.text("reason")?,
        limited_until: members.time("limited_until")?,
        limited_since: members.time("limited_since")?,
        tasks_since: members.time("tasks_since")?,
        tasks: members.names("tasks")?,
        pending_notifications: members.names("pending_notifications")?,
        updated_at,
        unknown: std::mem::take(members.0),
    })
}

struct Members<'m>(&'m mut Map<String, Value>);

type Read<T> = Result<T, DamagedSession>;

impl Members<'_> {
    /// A member, converted by `convert`; `None` where it is missing or `null`.
    fn optional<T>(
        &mut self,
        member: &'static str,
        expected: &'static str,
        convert: impl FnOnce(Value) -> Option<T>,
    ) -> Read<Option<T>> {
        match self.0.remove(member) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match convert(value) {
                Some(value) => Ok(Some(value)),
                None => Err(DamagedSession::Unexpected { member, expected }),
            },
        }
    }

    fn required<T>(
        &mut self,
        member: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Read<Option<T>>,
    ) -> Read<T> {
        read(self, member)?.ok_or(DamagedSession::Missing(member))
    }

    fn text(&mut self, member: &'static str) -> Read<Option<String>> {
        self.optional(member, "a string", |value| match value {
            Value::String(text) => Some(text),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        })
    }

    fn names(&mut self, member: &'static str) -> Read<Vec<String>> {
        let names = self.optional(member, "a list of strings", |value| {
            let names = value.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned()));
            names.collect()
        })?;
        Ok(names.unwrap_or_default())
    }

    fn time(&mut self, member: &'static str) -> Read<Option<Timestamp>> {
        self.optional(member, "a time as in RFC 3339", |value| Timestamp::parse(value.as_str()?))
    }

    fn flag(&mut self, member: &'static str) -> Read<bool> {
        let flag = self.optional(member, "`true` or `false`", |value| value.as_bool())?;
        Ok(flag.unwrap_or(false))
    }

    /// Files of older generations say that a session is paused, and not why: then until a person
    /// says to go on.
    fn pause(&mut self) -> Read<Option<Pause>> {
        let by = self.optional("paused_by", "`question`, `person` or `silence`", |value| {
            value.as_str()?.parse::<Pause>().ok()
        })?;
        Ok(self.flag("paused")?.then(|| by.unwrap_or(Pause::Person)))
    }

    /// A number, or a string of digits: tools that edit the file write both.
    fn number(&mut self, member: &'static str) -> Read<Option<u64>> {
        self.optional(member, "a whole number from 0", |value| match value.as_str() {
            Some(digits) => digits.trim().parse().ok(),
            None => value.as_u64(),
        })
    }

    fn count(&mut self, member: &'static str) -> Read<u32> {
        Ok(self.number(member)?.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX)))
    }

    fn required_count(&mut self, member: &'static str) -> Read<u32> {
        let number = self.required(member, Members::number)?;
        Ok(u32::try_from(number).unwrap_or(u32::MAX))
    }
}

/// The state of a session as its file holds it.
pub fn write(session: &Session) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(&document(session)).expect("only string keys");
    json.push(b'\n');
    json
}

fn document(session: &Session) -> Value {
    let mut members = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            members.insert(key.to_owned(), value);
        }
    };
    put("workflow", json!(session.workflow));
    put("state", json!(session.state.as_str()));
    put("pr_no", json!(session.pr_no));
    put("issue_no", json!(session.issue_no));
    put("continuation_count", json!(session.continuation_count));
    put("pr_number", json!(session.pr_number));
    put("run_id", json!(session.run_id));
    put("run_revision", json!(session.run_revision));
    put("begins_run_at", json!(session.begins_run_at.map(Timestamp::to_rfc3339)));
    if let Some(pause) = session.pause {
        put("paused", json!(true));
        put("paused_by", json!(pause.as_str()));
    }
    put("in_a_row", json!(session.in_a_row));
    put("stalled", json!(session.stalled));
    if let Some(stop) = &session.stop {
        put("stop_place", json!(stop.place));
        put("stop_echoes", json!(stop.echoes));
    }
    put("last_message", json!(session.last_message));
    put("last_prompt", json!(session.last_prompt));
    put("prompt_id", json!(session.prompt_id));
    put("reason", json!(session.reason));
    put("limited_until", json!(session.limited_until.map(Timestamp::to_rfc3339)));
    put("limited_since", json!(session.limited_since.map(Timestamp::to_rfc3339)));
    put("tasks_since", json!(session.tasks_since.map(Timestamp::to_rfc3339)));
    if !session.tasks.is_empty() {
        put("tasks", json!(session.tasks));
    }
    if !session.pending_notifications.is_empty() {
        put("pending_notifications", json!(session.pending_notifications));
    }
    put("updated_at", json!(session.updated_at.map(Timestamp::to_rfc3339)));
    for (key, value) in &session.unknown {
        members.insert(key.clone(), value.clone());
    }
    Value::Object(members)
}

/// A session as `onloop session show --json` prints it: the members of its file, with its id, its
/// status and the path of the file.
pub fn shown(session: &Session, file: &str) -> Value {
    let mut members = Map::new();
    members.insert("session_id".to_owned(), json!(session.id.as_str()));
    members.insert("status".to_owned(), json!(session.status()));
    members.insert("file".to_owned(), json!(file));
    if let Value::Object(document) = document(session) {
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedAnswer {
    /// Digest of tool and input.
    pub call: String,
    /// The decision; `Ask` when nobody could be reached.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// Answers that are not too old at `now`. What is damaged is left out: without an answer the next
/// event of the call is decided anew, and nothing is allowed by that.
pub fn read_answers(bytes: &[u8], now: Timestamp) -> Vec<RememberedAnswer> {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|item| read_answer(item, now)).collect()
}

fn read_answer(item: &Value, now: Timestamp) -> Option<RememberedAnswer> {
    let decision = item["decision"].as_str()?.parse().ok()?;
    let at = Timestamp::from_millis(item["at_ms"].as_i64()?);
    let call = item["call"].as_str()?.to_owned();
    let reason = item["reason"].as_str()?.to_owned();
    // An answer from the future was not given by this clock.
    let fresh = at <= now && now.millis_since(at) <= limits::ESCALATION_MS;
    fresh.then_some(RememberedAnswer { call, decision, reason, at })
}

/// The newest answers as a file.
pub fn write_answers(answers: &[RememberedAnswer]) -> Vec<u8> {
    let first = answers.len().saturating_sub(limits::ESCALATIONS_KEPT);
    let list: Vec<Value> = answers[first..]
        .iter()
        .map(|answer| {
            json!({
                "call": answer.call,
                "decision": answer.decision.as_str(),
                "reason": answer.reason,
                "at_ms": answer.at.as_millis(),
            })
        })
        .collect();
    format!("{}\n", Value::Array(list)).into_bytes()
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
        let session = read(id(), file).unwrap();
        assert_eq!((session.continuation_count, session.issue_no), (5, Some(42)));
        assert_eq!((session.pr_number, session.updated_at), (Some(7), None));
        let written: Value = serde_json::from_slice(&write(&session)).unwrap();
        assert_eq!(written["worker"]["pid"], 9);
        assert_eq!(read(id(), &write(&session)).unwrap().continuation_count, 5);
    }

    #[test]
    fn a_new_file_begins_with_the_members_of_the_first_generation() {
        let started = detect("/issue-to-impl 42", &[]).unwrap();
        let session = Session::begin(id(), started, Timestamp::EPOCH);
        let written: Value = serde_json::from_slice(&write(&session)).unwrap();
        let keys: Vec<&String> = written.as_object().unwrap().keys().take(4).collect();
        assert_eq!(keys, ["workflow", "state", "issue_no", "continuation_count"]);
        assert_eq!(written["state"], "initial");
        assert_eq!(read(id(), &write(&session)).unwrap(), session);
        let index: Value = serde_json::from_slice(&write_index(&session)).unwrap();
        assert_eq!(index, json!({"session_id": "s1", "workflow": "issue-to-impl"}));
    }

    #[test]
    fn d13_counters_as_text_are_read_and_nonsense_is_named() {
        let file = br#"{"workflow": "a", "state": "done", "continuation_count": "3"}"#;
        assert_eq!(read(id(), file).unwrap().continuation_count, 3);
        let table: [(&[u8], &str); 6] = [
            (b"", "it is not JSON: EOF while parsing a value at line 1 column 0"),
            (b"{", "it is not JSON: EOF while parsing an object at line 1 column 1"),
            (b"[]", "it is not a JSON object"),
            (b"\xff", "it is not UTF-8"),
            (b"{}", "`workflow` is missing"),
            (
                br#"{"workflow": "a", "workflow": "b"}"#,
                "it is not JSON: `workflow` is given twice at line 1 column 34",
            ),
        ];
        for (file, expected) in table {
            assert_eq!(read(id(), file).unwrap_err().to_string(), expected);
        }
    }

    /// What is wrong with a complete file of ours whose `member` is `value`; `null`: without it.
    fn damage(member: &str, value: Value) -> Option<String> {
        let mut file = json!({"workflow": "a", "state": "initial", "continuation_count": 0,
            "in_a_row": 0, "stalled": 0, "stop_place": "p", "stop_echoes": 0,
            "updated_at": "2026-03-20T10:00:00+00:00"});
        file[member] = value;
        if file[member].is_null() {
            file.as_object_mut().unwrap().remove(member);
        }
        read(id(), file.to_string().as_bytes()).err().map(|damage| damage.to_string())
    }

    #[test]
    fn members_of_its_generation_are_required_and_every_value_has_its_type() {
        let required =
            ["workflow", "state", "continuation_count", "in_a_row", "stalled", "stop_echoes"];
        for member in required {
            assert_eq!(damage(member, Value::Null), Some(format!("`{member}` is missing")));
        }
        let table = [
            ("continuation_count", json!(-1), "`continuation_count` is not a whole number from 0"),
            ("stalled", json!("many"), "`stalled` is not a whole number from 0"),
            ("state", json!(3), "`state` is not a string"),
            ("run_id", json!(["r"]), "`run_id` is not a string"),
            ("paused", json!("yes"), "`paused` is not `true` or `false`"),
            ("paused_by", json!("me"), "`paused_by` is not `question`, `person` or `silence`"),
            ("updated_at", json!("yesterday"), "`updated_at` is not a time as in RFC 3339"),
        ];
        for (member, value, expected) in table {
            assert_eq!(damage(member, value).as_deref(), Some(expected));
        }
        assert_eq!(damage("stop_place", Value::Null), None);
    }

    #[test]
    fn a_pause_without_a_reason_lasts_until_a_person_says_to_go_on() {
        let file =
            br#"{"workflow": "a", "state": "initial", "continuation_count": 0, "paused": true}"#;
        assert_eq!(read(id(), file).unwrap().pause, Some(Pause::Person));
        let mut session = read(id(), file).unwrap();
        session.pause = Some(Pause::Question);
        assert_eq!(read(id(), &write(&session)).unwrap().pause, session.pause);
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
