//! `onloop session log`: what happened in sessions, from the audit log.

use onloop_documents::audit_log::{AuditEntry, write_line};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::state::audit_log;
use onloop_syntax::text;

use super::many::age;

/// How far back it looks unless told otherwise.
const SINCE: &str = "24h";

/// Arguments of `onloop session log`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SessionLogArgs {
    /// Session id, or the beginning of one [default: all sessions]
    pub id: Option<String>,
    /// Show entries up to this old, such as `12h` or `7d` [default: 24h]
    #[arg(long, value_name = "AGE")]
    pub since: Option<String>,
    /// Print JSON lines
    #[arg(long)]
    pub json: bool,
}

/// `onloop session log`: outages, refusals, decisions, starts and ends, the oldest first.
pub async fn session_log(io: &Io, args: &SessionLogArgs) -> Result<Exit, CommandError> {
    let age_ms = age("--since", args.since.as_deref().unwrap_or(SINCE))?;
    let is_shown = |entry: &&AuditEntry| {
        let is_meant = args.id.as_ref().is_none_or(|id| {
            entry.session.as_deref().is_some_and(|session| session.starts_with(id.as_str()))
        });
        is_meant && io.now().millis_since(entry.at) <= age_ms
    };
    let (entries, _) = audit_log::entries(io).await;
    let shown: Vec<&AuditEntry> = entries.iter().filter(is_shown).collect();
    if shown.is_empty() && !args.json {
        io.note("Nothing was logged in that time.").await;
        return Ok(Exit::Done);
    }
    let lines: String = shown.iter().map(|entry| line(entry, args.json)).collect();
    io.result(lines).await;
    Ok(Exit::Done)
}

fn line(entry: &AuditEntry, json: bool) -> String {
    if json {
        return write_line(entry);
    }
    let session = entry.session.as_deref().map_or("-", |session| text::prefix(session, 8));
    format!(
        "{} {session:<8} {:<10} {}\n",
        entry.at.to_rfc3339(),
        entry.event.as_str(),
        entry.line()
    )
}
