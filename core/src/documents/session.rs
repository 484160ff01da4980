//! The files of agent sessions: state, issue index, and answers given a moment ago.

use serde_json::{Map, Value, json};

use crate::handsoff::{CountedStop, Session, SessionId, State};
use crate::limits;
use crate::permission::Decision;
use crate::syntax::strict_json;
use crate::time::Timestamp;

/// Reads the state of a session. The members of the first generation are `workflow`, `state`,
/// `continuation_count`, `issue_no`, `pr_no` and `pr_number`; later ones may be missing.
///
/// # Errors
///
/// What is wrong with it, on one line.
pub fn read(id: SessionId, bytes: &[u8]) -> Result<Session, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let value = strict_json::parse(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(mut members) = value else {
        return Err("it is not a JSON object".to_owned());
    };
    let mut members = Members(&mut members);
    let workflow = members.text("workflow")?.ok_or("`workflow` is missing")?;
    let state = members.text("state")?.unwrap_or_else(|| "initial".to_owned());
    Ok(Session {
        id,
        workflow,
        state: State::from_word(&state),
        continuation_count: members.count("continuation_count")?,
        issue_no: members.number("issue_no")?,
        pr_no: members.number("pr_no")?,
        pr_number: members.number("pr_number")?,
        run_id: members.text("run_id")?,
        run_revision: members.number("run_revision")?,
        paused: members.0.remove("paused").is_some_and(|paused| paused == true),
        in_a_row: members.count("in_a_row")?,
        stalled: members.count("stalled")?,
        stop: match members.text("stop_place")? {
            Some(place) => Some(CountedStop { place, echoes: members.count("stop_echoes")? }),
            None => None,
        },
        last_message: members.text("last_message")?,
        last_prompt: members.text("last_prompt")?,
        prompt_id: members.text("prompt_id")?,
        reason: members.text("reason")?,
        updated_at: members.text("updated_at")?.and_then(|at| Timestamp::parse(&at)),
        unknown: std::mem::take(members.0),
    })
}

struct Members<'m>(&'m mut Map<String, Value>);

impl Members<'_> {
    fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.0.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{key}` is not a text")),
        }
    }

    /// A number, or digits as a text: tools that edit the file write both.
    fn number(&mut self, key: &str) -> Result<Option<u64>, String> {
        let number = match self.0.remove(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number.as_u64(),
            Some(Value::String(digits)) => digits.trim().parse().ok(),
            Some(_) => None,
        };
        number.map(Some).ok_or_else(|| format!("`{key}` is not a number from 0"))
    }

    fn count(&mut self, key: &str) -> Result<u32, String> {
        Ok(self.number(key)?.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX)))
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
    put("state", json!(session.state.word()));
    put("pr_no", json!(session.pr_no));
    put("issue_no", json!(session.issue_no));
    put("continuation_count", json!(session.continuation_count));
    put("pr_number", json!(session.pr_number));
    put("run_id", json!(session.run_id));
    put("run_revision", json!(session.run_revision));
    put("paused", if session.paused { json!(true) } else { Value::Null });
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
    put("updated_at", json!(session.updated_at.map(Timestamp::to_rfc3339)));
    for (key, value) in &session.unknown {
        members.insert(key.clone(), value.clone());
    }
    Value::Object(members)
}

/// A session as `onloop session` shows it: its file with its id and status.
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

/// A session file that cannot be read, as `onloop session list --json` shows it.
pub fn damaged(id: &SessionId, file: &str, error: &str) -> Value {
    json!({ "session_id": id.as_str(), "status": "unreadable", "file": file, "error": error })
}

/// The file that leads from an issue to the session that works on it.
pub fn write_index(session: &Session) -> Vec<u8> {
    let index = json!({ "session_id": session.id.as_str(), "workflow": session.workflow });
    format!("{index}\n").into_bytes()
}

/// The session that an index names.
pub fn read_index(bytes: &[u8]) -> Option<SessionId> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    SessionId::new(value["session_id"].as_str()?)
}

/// An answer that was given to one event of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Digest of tool and input.
    pub call: String,
    /// What was answered; `Ask` when nobody could be reached.
    pub decision: Decision,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// Answers that are not too old at `now`. A file that is damaged holds none.
pub fn read_answers(bytes: &[u8], now: Timestamp) -> Vec<Answered> {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|item| read_answer(item, now)).collect()
}

fn read_answer(item: &Value, now: Timestamp) -> Option<Answered> {
    let decision = match item["decision"].as_str()? {
        "allow" => Decision::Allow,
        "ask" => Decision::Ask,
        "deny" => Decision::Deny,
        _ => return None,
    };
    let at = Timestamp::from_millis(item["at_ms"].as_i64()?);
    let call = item["call"].as_str()?.to_owned();
    let reason = item["reason"].as_str()?.to_owned();
    // An answer from the future was not given by this clock.
    let fresh = at <= now && now.millis_since(at) <= limits::ESCALATION_MS;
    fresh.then_some(Answered { call, decision, reason, at })
}

/// The newest answers as a file.
pub fn write_answers(answers: &[Answered]) -> Vec<u8> {
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
    use crate::handsoff::command::detect;

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
        let table: [(&[u8], &str); 8] = [
            (b"", "it is not JSON"),
            (b"{", "it is not JSON"),
            (b"[]", "it is not a JSON object"),
            (b"\xff", "it is not UTF-8"),
            (b"{}", "`workflow` is missing"),
            (br#"{"workflow": "a", "continuation_count": -1}"#, "is not a number from 0"),
            (br#"{"workflow": "a", "state": 3}"#, "`state` is not a text"),
            (br#"{"workflow": "a", "workflow": "b"}"#, "given twice"),
        ];
        for (file, expected) in table {
            let error = read(id(), file).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn answers_are_forgotten_soon() {
        let at = Timestamp::from_millis(1_000_000);
        let answer =
            Answered { call: "c".to_owned(), decision: Decision::Allow, reason: String::new(), at };
        let file = write_answers(std::slice::from_ref(&answer));
        assert_eq!(read_answers(&file, at), [answer]);
        let later = Timestamp::from_millis(1_000_001 + limits::ESCALATION_MS.cast_signed());
        assert_eq!(read_answers(&file, later), []);
        assert_eq!(read_answers(&file, Timestamp::from_millis(999_999)), []);
        assert_eq!(read_answers(b"torn", at), []);
    }
}
