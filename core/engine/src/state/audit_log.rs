//! The audit log: what happened in hands-off sessions, always kept, bounded, in the state home. Whoever
//! writes it works on something else, so nothing depends on whether that succeeds.

use crate::state::store::StateHome;
use onloop_documents::audit_log::{AuditEntry, read_lines, write_line};
use onloop_effect::{Durability, Expect, Io, OptionalExt};
use onloop_syntax::limits;

/// How often an entry is tried to be added while others add theirs.
const TRIES: u32 = 20;

/// Adds an entry, without values of secret environment variables.
pub async fn note(io: &Io, mut entry: AuditEntry) {
    let Ok(home) = StateHome::of(io) else { return };
    // Before texts are cut: the half of a secret is not recognised.
    entry.text = io.redacted(&entry.text);
    entry.about = entry.about.map(|about| io.redacted(&about));
    let (path, line) = (home.audit_log(), io.redacted(&write_line(&entry)));
    for _ in 0..TRIES {
        let Ok(found) = io.stat(&path).await.optional() else { return };
        let size_bytes = found.map_or(0, |stat| stat.size_bytes);
        if size_bytes + line.len() as u64 > limits::AUDIT_LOG_BYTES {
            rotate(io, &home).await;
            continue;
        }
        let bytes = line.clone().into_bytes();
        match io.append(&path, bytes, size_bytes, Durability::Relaxed).await {
            Err(failure) if failure.is_conflict() => {}
            Ok(()) | Err(_) => return,
        }
    }
}

/// Keeps the audit log under another name and begins a new one. What somebody adds in that very moment
/// may be lost.
async fn rotate(io: &Io, home: &StateHome) {
    let (path, lock) = (home.audit_log(), format!("{}.lock", home.audit_log()));
    if io.lock(&lock, limits::HOOK_LOCK_WAIT_MS).await.is_err() {
        return;
    }
    // Somebody else may have done it meanwhile.
    let read = io.read_tail(&path, limits::AUDIT_LOG_BYTES).await;
    if let Ok((bytes, size_bytes)) = read
        && size_bytes > limits::AUDIT_LOG_BYTES / 2
    {
        let old = home.audit_log_before();
        if io.write(&old, bytes, Expect::Any, Durability::Relaxed).await.is_ok() {
            let _ = io.remove(&path).await;
        }
    }
    let _ = io.unlock(&lock).await;
}

/// Every entry that is kept, the oldest first, and how many bytes the audit log had.
pub async fn entries(io: &Io) -> (Vec<AuditEntry>, u64) {
    let Ok(home) = StateHome::of(io) else { return (Vec::new(), 0) };
    let (mut entries, mut last_bytes) = (Vec::new(), 0);
    for path in [home.audit_log_before(), home.audit_log()] {
        let read = io.read_tail(&path, limits::AUDIT_LOG_BYTES).await;
        let (bytes, size_bytes) = read.unwrap_or_default();
        entries.extend(read_lines(&bytes));
        last_bytes = size_bytes;
    }
    (entries, last_bytes)
}
