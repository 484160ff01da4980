//! Deferred calls: they wait for a person while no process does.
//!
//! A host that can defer a call exits, and asks its hook again about the very same call when the
//! session is resumed. The answer that a person gives in between is kept here, for that call of
//! that session and for one time.

use serde_json::Value;
use sha2::{Digest, Sha256};

use onloop_documents::approval as document;
use onloop_documents::approval::PendingCall;
use onloop_effect::{Durability, Expect, Failure, FailureKind, Io, OptionalExt, Version};
use onloop_sessions::handsoff::SessionId;
use onloop_sessions::handsoff::approval::ApprovalChoice;
use onloop_syntax::limits;

/// A call that is to be deferred.
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
    /// What it would do, as [`onloop_sessions::handsoff::approval::message::whole`] shows it to people.
    pub target_text: &'c str,
    /// Why neither a rule nor anybody who was asked decided, for people.
    pub reason: &'c str,
}

/// Whether the host that started us can defer a call: Claude Code without a terminal.
pub fn host_defers(io: &Io) -> bool {
    io.env("CLAUDE_CODE_SESSION_ATTENDED") == Some("0")
}

/// Stores a call for a person to answer and returns its id. One that already waits stays as it is.
///
/// # Errors
///
/// `Invalid` when the session's id cannot be an argument, `TooLarge` when the call exceeds
/// [`limits::APPROVAL_DOCUMENT_BYTES`], and what the host says when it cannot be stored.
pub async fn defer(io: &Io, call: &Deferred<'_>) -> Result<String, Failure> {
    if !is_session(call.session_id) {
        return Err(Failure::new(FailureKind::Invalid, "the session has no usable id"));
    }
    let id = call_id(call.session_id, call.tool, call.input);
    let pending = PendingCall {
        id: id.clone(),
        session_id: call.session_id.to_owned(),
        cwd: call.cwd.to_owned(),
        tool: call.tool.to_owned(),
        target: io.redacted(call.target_text),
        reason: io.redacted(call.reason),
        since_ms: io.now().as_millis(),
        answer: None,
        answered_by: None,
    };
    let bytes = document::write_pending(&pending);
    if bytes.len() as u64 > limits::APPROVAL_DOCUMENT_BYTES {
        return Err(Failure::new(FailureKind::TooLarge, "the call is too large to be kept"));
    }
    match io.write(&path(io, &id), bytes, Expect::Absent, Durability::Durable).await {
        Ok(_) => Ok(id),
        Err(failure) if failure.is_exists() => Ok(id),
        Err(failure) => Err(failure),
    }
}

/// A person's answer about a call that waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitedFor {
    /// What they said.
    pub choice: ApprovalChoice,
    /// What they are called, where that is known.
    pub by: Option<String>,
}

/// Forgets a call that was decided in another way.
pub async fn forget(io: &Io, id: &str) {
    let _ = io.remove(&path(io, id)).await;
}

/// Takes a person's answer about a call. It is removed before it is used, so it counts once.
///
/// # Errors
///
/// When there is an answer that cannot be read or removed. It must not be used then.
pub async fn consume(
    io: &Io,
    session_id: &str,
    tool: &str,
    input: &Value,
) -> Result<Option<WaitedFor>, Failure> {
    let id = call_id(session_id, tool, input);
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

async fn take(io: &Io, id: &str, session_id: &str) -> Result<Option<WaitedFor>, Failure> {
    let Some((call, _)) = load(io, id).await? else {
        return Ok(None);
    };
    let Some((choice, _)) = call.answer.filter(|_| call.session_id == session_id) else {
        return Ok(None);
    };
    io.remove(&path(io, id)).await?;
    Ok(Some(WaitedFor { choice, by: call.answered_by }))
}

/// The calls that are kept.
#[derive(Debug, Default)]
pub struct Waiting {
    /// Those that can be read, the oldest first.
    pub calls: Vec<PendingCall>,
    /// Why others cannot be read. Their sessions get no answer before they are removed.
    pub unreadable: Vec<Failure>,
}

/// Every call that is kept. What is too old is removed.
///
/// # Errors
///
/// When the folder is there and cannot be read.
pub async fn list(io: &Io) -> Result<Waiting, Failure> {
    let names = io.list(&folder(io)).await.optional()?.unwrap_or_default();
    let ids = names.iter().filter_map(|name| name.strip_suffix(".json"));
    let Waiting { mut calls, mut unreadable } = Waiting::default();
    for id in ids.take(limits::PENDING_CALLS) {
        let call = match load(io, id).await {
            Ok(Some((call, _))) => call,
            Ok(None) => continue,
            // One damaged document must not hide the others.
            Err(failure) => {
                unreadable.push(failure);
                continue;
            }
        };
        let kept_ms = i64::try_from(limits::PENDING_KEPT_MS).unwrap_or(i64::MAX);
        if call.since_ms.saturating_add(kept_ms) < io.now().as_millis() {
            let _ = io.remove(&path(io, id)).await;
        } else {
            calls.push(call);
        }
    }
    calls.sort_by_key(|call| call.since_ms);
    Ok(Waiting { calls, unreadable })
}

/// Stores the answer about a call of a person who is called `by`.
///
/// # Errors
///
/// `NotFound` when no such call waits; `Conflict` when it already has another answer.
pub async fn answer(
    io: &Io,
    id: &str,
    choice: ApprovalChoice,
    by: Option<&str>,
) -> Result<PendingCall, Failure> {
    let lock = lock_path(io, id);
    io.lock(&lock, limits::LOCK_WAIT_MS).await?;
    let answered = write_answer(io, id, choice, by).await;
    let _ = io.unlock(&lock).await;
    answered
}

async fn write_answer(
    io: &Io,
    id: &str,
    choice: ApprovalChoice,
    by: Option<&str>,
) -> Result<PendingCall, Failure> {
    let Some((mut call, version)) = load(io, id).await? else {
        return Err(Failure::new(FailureKind::NotFound, format!("no call `{id}` waits")));
    };
    if let Some((said, _)) = call.answer.filter(|(said, _)| *said != choice) {
        let message = format!("the call `{id}` is answered already: {}", said.as_str());
        return Err(Failure::new(FailureKind::Conflict, message));
    }
    call.answer = Some((choice, io.now().as_millis()));
    call.answered_by = by.map(str::to_owned);
    let bytes = document::write_pending(&call);
    io.write(&path(io, id), bytes, Expect::Version(version), Durability::Durable).await?;
    Ok(call)
}

async fn load(io: &Io, id: &str) -> Result<Option<(PendingCall, Version)>, Failure> {
    let path = path(io, id);
    let read = io.read(&path, limits::APPROVAL_DOCUMENT_BYTES).await.optional()?;
    let Some((bytes, version)) = read else { return Ok(None) };
    let why = match document::read_pending(&bytes) {
        Ok(call) if call.id == id => return Ok(Some((call, version))),
        Ok(call) => format!("it names the call `{}`", onloop_syntax::text::one_line(&call.id)),
        Err(error) => error.to_string(),
    };
    Err(Failure::new(FailureKind::Invalid, format!("`{path}` is damaged ({why}); remove it")))
}

/// The folder of the calls that are kept.
pub(crate) fn folder(io: &Io) -> String {
    format!("{}/pending", super::folder(io))
}

fn path(io: &Io, id: &str) -> String {
    format!("{}/{id}.json", folder(io))
}

fn lock_path(io: &Io, id: &str) -> String {
    format!("{}/{id}.lock", folder(io))
}

/// Whether the id may be an argument of a command line.
fn is_session(id: &str) -> bool {
    SessionId::new(id).is_some() && !id.starts_with('-')
}

/// The id of a call: the same for the same call of the same session, whatever the order of the
/// input's keys.
pub fn call_id(session_id: &str, tool: &str, input: &Value) -> String {
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
        let id = call_id("s", "Bash", &input);
        assert_eq!(id, call_id("s", "Bash", &turned));
        assert_eq!(id.len(), 16);
        for other in [
            call_id("t", "Bash", &input),
            call_id("s", "Bas", &input),
            call_id("s", "Bash", &json!({"command": "ls "})),
            call_id("sB", "ash", &input),
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
