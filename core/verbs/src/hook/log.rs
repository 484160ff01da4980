//! What hooks did, for people who look for the reason: what matters in the morning always goes into
//! the audit log, everything into logs beside the session where `handsoff.debug` is on.
//!
//! What a rule allows is not in the audit log: that is almost every call, and a hook must be quick.

use super::HookContext;
use onloop_documents::audit_log::{AuditEntry, AuditEvent};
use onloop_effect::{Durability, Expect, FileKind, OptionalExt};
use onloop_engine::client_files::CANARY_VARIABLE;
use onloop_engine::session::files::Sessions;
use onloop_engine::state::audit_log;
use onloop_permission::{Call, Decision, Rule, Ruling};
use onloop_sessions::handsoff::Session;
use onloop_sessions::handsoff::approval::{ApprovalStage, Approver};
use onloop_sessions::handsoff::command::workflow;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Longest entry.
const LINE_BYTES: usize = 4096;

/// Adds to the audit log, and to `.tmp/hook-debug.log`.
pub(super) async fn debug(context: &HookContext, message: &str) {
    note(context, AuditEvent::Session, message).await;
}

/// The same of an agent that is not served, or served again.
pub(super) async fn limit(context: &HookContext, message: &str) {
    note(context, AuditEvent::Limit, message).await;
}

async fn note(context: &HookContext, event: AuditEvent, message: &str) {
    let entry = AuditEntry::new(context.io.now(), event, message);
    audit_log::note(&context.io, of_context(context, entry)).await;
    if context.loaded.config.debug {
        let line = format!("{} {}", prefix(context), text::one_line(message));
        add(context, &format!("{}/.tmp/hook-debug.log", home(context).await), &line).await;
    }
}

/// Notes what somebody who was asked has decided.
pub(super) async fn approval(context: &HookContext, call: &Call, ruling: &Ruling, by: Approver) {
    debug_decision(context, call, ruling, &by.to_string()).await;
    let entry = AuditEntry { by: Some(by), ..of_call(context, call, ruling, AuditEvent::Decided) };
    audit_log::note(&context.io, entry).await;
}

/// Notes that a call waits for a person, by the id under which it does.
pub(super) async fn deferred(context: &HookContext, call: &Call, ruling: &Ruling, id: &str) {
    let entry = of_call(context, call, ruling, AuditEvent::Deferred);
    let text = format!("waits for a person as {id}: {}", ruling.reason);
    audit_log::note(&context.io, AuditEntry { text, ..entry }).await;
    debug_decision(context, call, ruling, &ruling.rule.to_string()).await;
}

/// Notes a decision: in the audit log, unless it allows, is noted already or is one of a run, which has a
/// log of its own.
pub(super) async fn decision(context: &HookContext, call: &Call, ruling: &Ruling) {
    let is_known = ruling.rule == Rule::Approval
        || context.state_home.is_some()
        || context.io.env(CANARY_VARIABLE).is_some();
    if ruling.decision != Decision::Allow && !is_known {
        let name = text::one_line(&ruling.rule.to_string());
        let by = Approver { stage: ApprovalStage::Rule, name };
        let by = Some(by).filter(|_| ruling.decision == Decision::Deny);
        let entry = of_call(context, call, ruling, AuditEvent::Decided);
        audit_log::note(&context.io, AuditEntry { by, ..entry }).await;
    }
    // What somebody was asked about stands there under their name already.
    if ruling.rule != Rule::Approval || ruling.decision == Decision::Ask {
        debug_decision(context, call, ruling, &ruling.rule.to_string()).await;
    }
}

fn of_context(context: &HookContext, entry: AuditEntry) -> AuditEntry {
    let session = context.session.as_ref().map(ToString::to_string);
    AuditEntry { session, folder: Some(context.project.clone()), ..entry }
}

fn of_call(context: &HookContext, call: &Call, ruling: &Ruling, event: AuditEvent) -> AuditEntry {
    let entry = AuditEntry::new(context.io.now(), event, &ruling.reason);
    AuditEntry {
        tool: Some(call.tool.clone()),
        about: Some(target(call)),
        decision: Some(ruling.decision),
        ..of_context(context, entry)
    }
}

/// Adds to `.tmp/hooked-sessions/permission.txt`.
async fn debug_decision(context: &HookContext, call: &Call, ruling: &Ruling, by: &str) {
    if !context.loaded.config.debug {
        return;
    }
    let line = format!(
        "{} [{}] [{}] [{}] {} | {}",
        prefix(context),
        label(context).await,
        text::one_line(by),
        ruling.decision.as_str(),
        escaped(&call.tool),
        escaped(&target(call)),
    );
    add(context, &format!("{}/.tmp/hooked-sessions/permission.txt", home(context).await), &line)
        .await;
}

fn prefix(context: &HookContext) -> String {
    let session = context.session.as_ref().map_or("unknown", |id| id.as_str());
    format!("[{}] [{session}]", context.io.now().to_rfc3339())
}

/// Beside the session, so that everything about it is in one place.
async fn home(context: &HookContext) -> String {
    match &context.session {
        Some(id) => context.sessions(id).await.home().to_owned(),
        None => Sessions::new(&context.io).home().to_owned(),
    }
}

async fn label(context: &HookContext) -> &'static str {
    let Some(id) = &context.session else { return "unknown" };
    match context.sessions(id).await.load(id).await {
        Ok(Some(session)) if session.workflow == Session::RUN => "run",
        Ok(Some(session)) => workflow(&session.workflow).map_or("unknown", |known| known.label),
        Ok(None) | Err(_) => "unknown",
    }
}

/// One line in which nothing is lost: a forged entry would begin on a line of its own.
fn escaped(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() || text::is_invisible(c) => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// Adds a line; a log that cannot be written changes no decision.
async fn add(context: &HookContext, path: &str, line: &str) {
    let Some(folder) = path.rsplit_once('/').map(|(folder, _)| folder) else { return };
    // A link in the place of either would lead elsewhere.
    for folder in [folder.trim_end_matches("/hooked-sessions"), folder] {
        if let Ok(stat) = context.io.stat(folder).await
            && stat.kind != FileKind::Folder
        {
            return;
        }
    }
    let lock = format!("{path}.lock");
    if context.io.lock(&lock, limits::HOOK_LOCK_WAIT_MS).await.is_err() {
        return;
    }
    let mut bytes = match context.io.read(path, limits::HOOK_LOG_BYTES).await.optional() {
        Ok(read) => read.map(|(bytes, _)| bytes).unwrap_or_default(),
        // What cannot be read is not ours, and stays as it is.
        Err(_) => return release(context, &lock).await,
    };
    let line = format!("{}\n", text::ellipsis(&context.io.redacted(line), LINE_BYTES));
    if (bytes.len() + line.len()) as u64 > limits::HOOK_LOG_BYTES {
        let old = format!("{path}.1");
        let full = std::mem::take(&mut bytes);
        let _ = context.io.write(&old, full, Expect::Any, Durability::Relaxed).await;
    }
    bytes.extend(line.as_bytes());
    let _ = context.io.write(path, bytes, Expect::Any, Durability::Relaxed).await;
    release(context, &lock).await;
}

async fn release(context: &HookContext, lock: &str) {
    let _ = context.io.unlock(lock).await;
}

/// The most telling member of a call's input: its command, its path, or else all of it.
fn target(call: &Call) -> String {
    let keys = ["command", "file_path", "notebook_path", "path", "filePath", "url", "pattern"];
    let found = keys.iter().find_map(|key| call.input[*key].as_str());
    found.map_or_else(|| call.input.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn d28_an_entry_is_one_line() {
        assert_eq!(escaped("git status\n[t] [s] forged"), "git status\\n[t] [s] forged");
        assert_eq!(escaped("a\r\u{1b}[2J\u{202e}\\n"), "a\\u{d}\\u{1b}[2J\\u{202e}\\\\n");
    }
}
