//! `onloop session`: look at and end agent sessions, instead of editing their files.

mod everywhere;
mod log;
mod many;
mod undo;

use crate::pull_request::{SessionRequest, of_session};
use onloop_documents::audit_log::{AuditEntry, AuditEvent};
use onloop_documents::session as document;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::notify;
use onloop_engine::notify::session::NotificationContext;
use onloop_engine::run::instruction::instruction;
use onloop_engine::session::files::{SessionError, Sessions};
use onloop_engine::state::session_places;
use onloop_engine::state::store::{Store, StoreError};
use onloop_engine::state::{audit_log, config};
use onloop_sessions::handsoff::{Session, SessionEnding, SessionId};
use onloop_syntax::time::Timestamp;
use onloop_syntax::{limits, text};

pub use log::{SessionLogArgs, session_log};
pub use undo::{SessionUndoArgs, session_undo};

/// Arguments of `onloop session list`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SessionListArgs {
    /// Show those of every folder on this machine, with goal and state
    #[arg(long)]
    pub everywhere: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `onloop session show`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SessionShowArgs {
    /// Session id
    pub id: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of the verbs that end or forget a session.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SessionIdArgs {
    /// Session id
    pub id: String,
}

/// Arguments of `onloop session clear`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SessionClearArgs {
    /// Session id
    #[arg(required_unless_present_any = ["all", "older_than"])]
    pub id: Option<String>,
    /// Forget all sessions that are kept here
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Forget those that have not changed for so long, such as `12h` or `7d`
    #[arg(long, value_name = "AGE", conflicts_with_all = ["id", "all"])]
    pub older_than: Option<String>,
    /// With either: those of every folder on this machine
    #[arg(long, conflicts_with = "id")]
    pub everywhere: bool,
}

/// `onloop session list`.
pub async fn session_list(io: &Io, args: &SessionListArgs) -> Result<Exit, CommandError> {
    warn(io).await;
    if args.everywhere {
        everywhere::list(io, args.json).await;
        return Ok(Exit::Done);
    }
    let (sessions, ids) = found(io).await?;
    let mut entries = Vec::new();
    for id in ids {
        if let Some(entry) = sessions.load(&id).await.transpose() {
            entries.push((id, entry));
        }
    }
    if args.json {
        let entry = |(id, entry): &(SessionId, Result<Session, SessionError>)| match entry {
            Ok(session) => document::shown(session, &sessions.file(id)),
            Err(error) => document::damaged(id, &sessions.file(id), &error.to_string()),
        };
        let list: serde_json::Value = entries.iter().map(entry).collect();
        io.result(format!("{list:#}\n")).await;
        return Ok(Exit::Done);
    }
    if entries.is_empty() {
        io.note("No sessions here. One begins when a workflow is started in an agent.").await;
        return Ok(Exit::Done);
    }
    let mut out = String::new();
    for (id, entry) in &entries {
        out += &match entry {
            Ok(session) => line(session, io.now()),
            Err(error) => format!("✗ {id}\n    {error}\n"),
        };
    }
    io.result(out).await;
    Ok(Exit::Done)
}

/// Says what is wrong with the configuration: it may be why a session does not continue.
async fn warn(io: &Io) {
    for note in config::load(io, &io.start().cwd).await.notes() {
        io.note(format!("warning: configuration: {note}")).await;
    }
}

/// The sessions that are kept here; where there are none, those of the checkout.
async fn found(io: &Io) -> Result<(Sessions, Vec<SessionId>), SessionError> {
    let sessions = Sessions::new(io);
    let ids = sessions.ids().await?;
    if ids.is_empty()
        && let Some(checkout) = onloop_engine::git::checkout::find(io, &io.start().cwd).await
        && let Some(first) = Sessions::below(io, &checkout.root)
    {
        let ids = first.ids().await?;
        return Ok((first, ids));
    }
    Ok((sessions, ids))
}

fn line(session: &Session, now: Timestamp) -> String {
    let issue = session.issue_no.map_or_else(String::new, |issue| format!(", issue #{issue}"));
    let run = session.run_id.as_ref().map_or_else(String::new, |run| format!(", run {run}"));
    let changed = session.updated_at.map_or_else(|| "-".to_owned(), |at| at.to_rfc3339());
    let mut out = format!(
        "· {}\n    {} {}{issue}{run}, continued {}, changed {changed}\n",
        session.id,
        text::one_line(&session.workflow),
        session.status(),
        text::counted(u64::from(session.continuation_count), "time"),
    );
    if let Some(reason) = &session.reason {
        out += &format!("    {}\n", text::one_line(reason));
    }
    if let Some(wait) = session.task_wait(now) {
        out += &format!("    {wait}\n");
    }
    out
}

/// `onloop session show`.
pub async fn session_show(io: &Io, args: &SessionShowArgs) -> Result<Exit, CommandError> {
    warn(io).await;
    let (sessions, id) = known(io, &args.id).await?;
    let session = sessions.load(&id).await?.ok_or_else(|| missing(&id))?;
    if args.json {
        let shown = document::shown(&session, &sessions.file(&id));
        io.result(format!("{shown:#}\n")).await;
    } else {
        io.result(format!("{}    {}\n", line(&session, io.now()), sessions.file(&id))).await;
    }
    Ok(Exit::Done)
}

/// `onloop session done`: the goal is reached. Refused while a run that the session drives is not
/// finished, or its record cannot be read, and while its pull request can be read and is not done.
pub async fn session_done(io: &Io, args: &SessionIdArgs) -> Result<Exit, CommandError> {
    let (sessions, id) = known(io, &args.id).await?;
    let session = sessions.load(&id).await?.ok_or_else(|| missing(&id))?;
    if let Some(run) = &session.run_id {
        match Store::open(io, run).await {
            Ok(store) if !store.run().is_over() => {
                let next = instruction(store.run());
                let what = format!("run `{run}` is not finished; next is {}", next.action);
                let error = CommandError::failed(what);
                let error = match next.command() {
                    Some(command) => error.fix_by("do what comes next", command),
                    None if next.needs_person => error.because("it waits for a person"),
                    None => error,
                };
                return Err(or_stop(error, &id));
            }
            Ok(_) | Err(StoreError::Missing) => {}
            Err(error) => {
                return Err(SessionError::Record { run_id: run.clone(), error }.into());
            }
        }
    }
    let request = of_session(io, &io.start().cwd, &session, limits::SESSION_REQUEST_MS).await;
    let rule = match request {
        Some(request) if request.is_done() => format!(": {}", request.clause()),
        Some(request) => {
            let error = CommandError::failed(request.clause());
            let error = match request {
                SessionRequest::Pending => {
                    error.fix_by("wait for them", "gh pr checks --watch --fail-fast")
                }
                SessionRequest::Red { .. } | SessionRequest::Green | SessionRequest::Merged => {
                    error.fix("repair that, push, and wait for the checks")
                }
            };
            return Err(or_stop(error, &id));
        }
        None => String::new(),
    };
    end(io, &sessions, &id, SessionEnding::Done, &rule).await
}

/// Names the way out of a session whose goal cannot be reached.
fn or_stop(error: CommandError, id: &SessionId) -> CommandError {
    let stop = format!("onloop session stop {id}");
    error.fix_by("if that cannot be done, end the session without it", stop)
}

/// `onloop session stop`: the agent is not continued any more, whatever it works on.
pub async fn session_stop(io: &Io, args: &SessionIdArgs) -> Result<Exit, CommandError> {
    let (sessions, id) = known(io, &args.id).await?;
    stop(io, &sessions, &id).await
}

/// The same for a session whose place is known.
pub async fn stop(io: &Io, sessions: &Sessions, id: &SessionId) -> Result<Exit, CommandError> {
    end(io, sessions, id, SessionEnding::Stopped, "").await
}

/// `onloop session clear`: removes everything that is stored about it.
pub async fn session_clear(io: &Io, args: &SessionClearArgs) -> Result<Exit, CommandError> {
    let Some(id) = &args.id else { return many::clear(io, args).await };
    let (sessions, id) = known(io, id).await?;
    if !sessions.clear(&id).await? {
        return Err(missing(&id));
    }
    note(io, &id, "forgotten by `onloop session clear`").await;
    io.note(format!("Session {id} is forgotten")).await;
    Ok(Exit::Done)
}

async fn end(
    io: &Io,
    sessions: &Sessions,
    id: &SessionId,
    ending: SessionEnding,
    rule: &str,
) -> Result<Exit, CommandError> {
    let at = io.now();
    let verb = if ending == SessionEnding::Stopped { "stop" } else { "done" };
    let by = format!("by `onloop session {verb}`{rule}");
    let config = config::own(io, &io.start().cwd).await;
    let ended = sessions
        .change_known(id, |session| {
            let changed = session.end(at, ending, Some(&by));
            if changed {
                notify::session::enqueue(session, &config);
            }
            Some(changed)
        })
        .await?;
    match ended {
        None => return Err(missing(id)),
        Some(false) => {}
        Some(true) => note(io, id, &format!("ended {by}")).await,
    }
    io.note(format!("Session {id} is {}; it is not continued any more", ending.as_str())).await;
    let places = session_places::all(io).await;
    let resume = match places.iter().find(|place| place.id == *id) {
        Some(place) => place.host.resume_command(id.as_str()),
        None => format!("the chat of session {id}"),
    };
    let place =
        NotificationContext { folder: &io.start().cwd, resume: &resume, time_left_ms: None };
    notify::session::deliver(io, &config, sessions, id, place).await?;
    Ok(Exit::Done)
}

/// Notes in the audit log what a command did to a session.
async fn note(io: &Io, id: &SessionId, what: &str) {
    let entry = AuditEntry::new(io.now(), AuditEvent::Session, what);
    let (session, folder) = (Some(id.to_string()), Some(io.start().cwd.clone()));
    audit_log::note(io, AuditEntry { session, folder, ..entry }).await;
}

async fn known(io: &Io, id: &str) -> Result<(Sessions, SessionId), CommandError> {
    let Some(id) = SessionId::new(id) else {
        let id = text::ellipsis(&text::one_line(id), 128);
        return Err(CommandError::usage(format!(
            "`{id}` is not a session id; expected 1 to 128 letters, digits, `-` and `_`"
        )));
    };
    // A session may have begun in the top folder of the checkout.
    let checkout = onloop_engine::git::checkout::find(io, &io.start().cwd).await;
    let root = checkout.as_ref().map(|checkout| checkout.root.as_str());
    let project = io.env("CLAUDE_PROJECT_DIR");
    let others: Vec<&str> = [root, project].into_iter().flatten().collect();
    let here = Sessions::of(io, &id, &others).await;
    if matches!(here.load(&id).await, Ok(None))
        && let Some(place) = session_places::all(io).await.into_iter().find(|place| place.id == id)
    {
        return Ok((Sessions::kept(io, &place.folder), id));
    }
    Ok((here, id))
}

fn missing(id: &SessionId) -> CommandError {
    CommandError::usage(format!("there is no session `{id}`"))
        .fix_by("list those that are known", "onloop session list --everywhere")
}
