//! Calls that wait for a person without a process that waits for the person.
//!
//! Where a host can put a call off, it ends, and asks its hook again about the very same call
//! when the session is resumed. What a person has said in between is kept here, for that call
//! of that session and for one time.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::documents::approval as document;
use crate::documents::approval::PendingCall;
use crate::effect::{Durability, Expect, Failure, FailureKind, Io, Version};
use crate::handsoff::approval::ApprovalChoice;
use crate::limits;

/// A call that is put off.
#[derive(Clone, Copy, Debug)]
pub struct Deferred<'c> {
    /// The session that makes it.
    pub session_id: &'c str,
    /// Where that session works.
    pub cwd: &'c str,
    /// The tool.
    pub tool: &'c str,
    /// Its input.
    pub input: &'c Value,
    /// What it would do, for people; see [`crate::handsoff::approval::message::whole`].
    pub target_text: &'c str,
    /// Why nobody decided, for people.
    pub reason: &'c str,
}

/// Whether the host that started us can put a call off: Claude Code without a person at it.
pub fn host_defers(io: &Io) -> bool {
    io.env("CLAUDE_CODE_SESSION_ATTENDED") == Some("0")
}

/// Keeps a call for a person to answer; returns its id. A call that waits already stays.
///
/// # Errors
///
/// When it cannot be kept, or its session has no name that can be one.
pub async fn defer(io: &Io, call: &Deferred<'_>) -> Result<String, Failure> {
    if !is_session(call.session_id) {
        return Err(Failure::new(FailureKind::Invalid, "the session has no usable id"));
    }
    let id = id_of(call.session_id, call.tool, call.input);
    let pending = PendingCall {
        id: id.clone(),
        session_id: call.session_id.to_owned(),
        cwd: call.cwd.to_owned(),
        tool: call.tool.to_owned(),
        target: call.target_text.to_owned(),
        reason: call.reason.to_owned(),
        since_ms: io.now().as_millis(),
        answer: None,
    };
    let bytes = document::write_pending(&pending);
    if bytes.len() as u64 > limits::APPROVAL_DOCUMENT_BYTES {
        return Err(Failure::new(FailureKind::TooLarge, "the call is too large to be kept"));
    }
    match io.write(&path(io, &id), bytes, Expect::Absent, Durability::Durable).await {
        Ok(_) => Ok(id),
        Err(failure) if failure.kind == FailureKind::Exists => Ok(id),
        Err(failure) => Err(failure),
    }
}

/// What a person has said about a call, once: the answer is gone before it is used.
///
/// # Errors
///
/// When there is an answer that cannot be read or taken away. It must not be used then.
pub async fn consume(
    io: &Io,
    session_id: &str,
    tool: &str,
    input: &Value,
) -> Result<Option<ApprovalChoice>, Failure> {
    let id = id_of(session_id, tool, input);
    // Most calls were never put off; for them this is one look.
    if load(io, &id).await?.is_none_or(|(call, _)| call.answer.is_none()) {
        return Ok(None);
    }
    let lock = lock_path(io, &id);
    io.lock(&lock, limits::LOCK_WAIT_MS).await?;
    let taken = take(io, &id, session_id).await;
    let _ = io.unlock(&lock).await;
    taken
}

async fn take(io: &Io, id: &str, session_id: &str) -> Result<Option<ApprovalChoice>, Failure> {
    let Some((call, _)) = load(io, id).await? else {
        return Ok(None);
    };
    let Some((choice, _)) = call.answer.filter(|_| call.session_id == session_id) else {
        return Ok(None);
    };
    io.remove(&path(io, id)).await?;
    Ok(Some(choice))
}

/// Every call that is kept, the oldest first. What is too old is forgotten.
///
/// # Errors
///
/// When the folder is there and cannot be read.
pub async fn list(io: &Io) -> Result<Vec<PendingCall>, Failure> {
    let names = match io.list(&folder(io)).await {
        Ok(names) => names,
        Err(failure) if failure.kind == FailureKind::NotFound => return Ok(Vec::new()),
        Err(failure) => return Err(failure),
    };
    let ids = names.iter().filter_map(|name| name.strip_suffix(".json"));
    let mut calls = Vec::new();
    for id in ids.take(limits::PENDING_CALLS) {
        // One damaged document must not hide the others.
        let Ok(Some((call, _))) = load(io, id).await else { continue };
        let kept_ms = i64::try_from(limits::PENDING_KEPT_MS).unwrap_or(i64::MAX);
        if call.since_ms.saturating_add(kept_ms) < io.now().as_millis() {
            let _ = io.remove(&path(io, id)).await;
        } else {
            calls.push(call);
        }
    }
    calls.sort_by_key(|call| call.since_ms);
    Ok(calls)
}

/// Keeps what a person says about a call.
///
/// # Errors
///
/// `NotFound` when no such call waits; `Conflict` when it was answered otherwise already.
pub async fn answer(io: &Io, id: &str, choice: ApprovalChoice) -> Result<PendingCall, Failure> {
    let lock = lock_path(io, id);
    io.lock(&lock, limits::LOCK_WAIT_MS).await?;
    let answered = write_answer(io, id, choice).await;
    let _ = io.unlock(&lock).await;
    answered
}

async fn write_answer(io: &Io, id: &str, choice: ApprovalChoice) -> Result<PendingCall, Failure> {
    let Some((mut call, version)) = load(io, id).await? else {
        return Err(Failure::new(FailureKind::NotFound, format!("no call `{id}` waits")));
    };
    if let Some((said, _)) = call.answer.filter(|(said, _)| *said != choice) {
        let message = format!("the call `{id}` is answered already: {}", said.as_str());
        return Err(Failure::new(FailureKind::Conflict, message));
    }
    call.answer = Some((choice, io.now().as_millis()));
    let bytes = document::write_pending(&call);
    io.write(&path(io, id), bytes, Expect::Version(version), Durability::Durable).await?;
    Ok(call)
}

async fn load(io: &Io, id: &str) -> Result<Option<(PendingCall, Version)>, Failure> {
    match io.read(&path(io, id), limits::APPROVAL_DOCUMENT_BYTES).await {
        Ok((bytes, version)) => {
            match document::read_pending(&bytes).ok().filter(|call| call.id == id) {
                Some(call) => Ok(Some((call, version))),
                None => {
                    let message = format!("`{}` is damaged; remove it", path(io, id));
                    Err(Failure::new(FailureKind::Invalid, message))
                }
            }
        }
        Err(failure) if failure.kind == FailureKind::NotFound => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn folder(io: &Io) -> String {
    format!("{}/pending", super::folder(io))
}

fn path(io: &Io, id: &str) -> String {
    format!("{}/{id}.json", folder(io))
}

fn lock_path(io: &Io, id: &str) -> String {
    format!("{}/{id}.lock", folder(io))
}

/// Names that may stand in a path and in a command line.
pub(super) fn is_session(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=128).contains(&id.len()) && !id.starts_with('-') && id.bytes().all(fits)
}

/// The same for the same call of the same session, whatever the order of the input's keys.
fn id_of(session_id: &str, tool: &str, input: &Value) -> String {
    let mut hash = Sha256::new();
    for part in [session_id, tool, &sorted(input).to_string()] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut entries: Vec<_> = fields.iter().collect();
            entries.sort_by_key(|(name, _)| *name);
            entries.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_call_of_the_same_session_has_the_same_id() {
        let input = json!({"command": "ls", "more": [{"b": 1, "a": 2}]});
        let turned = json!({"more": [{"a": 2, "b": 1}], "command": "ls"});
        let id = id_of("s", "Bash", &input);
        assert_eq!(id, id_of("s", "Bash", &turned));
        assert_eq!(id.len(), 16);
        for other in [
            id_of("t", "Bash", &input),
            id_of("s", "Bas", &input),
            id_of("s", "Bash", &json!({"command": "ls "})),
            id_of("sB", "ash", &input),
        ] {
            assert_ne!(id, other);
        }
    }

    #[test]
    fn a_session_is_a_name_and_nothing_else() {
        for id in ["a", "0b3c-4_d"] {
            assert!(is_session(id), "{id}");
        }
        for id in ["", "-p", "../x", "a b", "a\n", &"x".repeat(129)] {
            assert!(!is_session(id), "{id}");
        }
    }
}
