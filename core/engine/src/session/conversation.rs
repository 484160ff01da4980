//! Which conversation drives a run. A file beside the ledger names it, where no agent can write:
//! the one that last did something about the run.

use crate::lookup::runs::{is_of, own_ids};
use crate::state::store::{Paths, StateHome, Store};
use onloop_documents::session as document;
use onloop_effect::{Durability, Expect, Failure, Io, LockHolder, OptionalExt};
use onloop_run::Run;
use onloop_sessions::handsoff::{Session, SessionId};
use onloop_syntax::limits;
use onloop_syntax::time::Timestamp;

fn paths(io: &Io, run_id: &str) -> Result<Paths, Failure> {
    Ok(Paths::new(&StateHome::of(io)?, "", run_id))
}

/// The session that drives run `run_id`; `None`: none is known. A file that cannot be read
/// names none.
pub async fn driver(io: &Io, run_id: &str) -> Option<SessionId> {
    let path = paths(io, run_id).ok()?.conversation();
    let (bytes, _) = io.read(&path, limits::SESSION_BYTES).await.ok()?;
    document::read_index(&bytes)
}

/// `session` drives run `run_id` from now on.
///
/// # Errors
///
/// When the file cannot be written.
pub async fn set_driver(io: &Io, run_id: &str, session: &Session) -> Result<(), Failure> {
    let path = paths(io, run_id)?.conversation();
    let bytes = document::write_index(session);
    io.write(&path, bytes, Expect::Any, Durability::Relaxed).await.map(|_| ())
}

/// Whether a living process drives the run of `store`.
pub async fn is_driven_by_process(io: &Io, store: &Store) -> bool {
    let holder = io.holder(&store.paths().driver_lock()).await;
    matches!(holder, Ok(Some(LockHolder { live: true, .. })))
}

/// The unfinished runs that work in one of `folders` or were started there. Records that cannot be
/// read are left out: nothing is known about them.
pub async fn unfinished(io: &Io, folders: &[&str]) -> Vec<Run> {
    let mut found: Vec<Run> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for folder in folders {
        let root = io.canonical(folder).await.unwrap_or_else(|_| (*folder).to_owned());
        if seen.contains(&root) {
            continue;
        }
        for id in own_ids(io, &root).await {
            if found.iter().any(|run| run.id == id) {
                continue;
            }
            let Ok(store) = Store::open(io, &id).await else { continue };
            let run = store.run();
            if !run.is_over() && run.place.roots().any(|folder| folder == root) {
                found.push(run.clone());
            }
        }
        seen.push(root);
    }
    found
}

/// The only one of `runs`; none where several fit.
pub fn only(mut runs: Vec<Run>) -> Option<Run> {
    if runs.len() == 1 { runs.pop() } else { None }
}

/// Those of `runs` that no other conversation than `id` is known to drive.
pub async fn not_of_others(io: &Io, runs: Vec<Run>, id: &SessionId) -> Vec<Run> {
    let mut free = Vec::new();
    for run in runs {
        if driver(io, &run.id).await.is_none_or(|by| by == *id) {
            free.push(run);
        }
    }
    free
}

/// Whether `run` began at `since` or later. Records keep whole seconds.
pub fn began_since(run: &Run, since: Timestamp) -> bool {
    run.started_at.as_millis() / 1000 >= since.as_millis() / 1000
}

/// Those of `runs` that execute the workflow file `name`, as somebody in one of `folders` calls it.
pub async fn of_file(io: &Io, mut runs: Vec<Run>, name: &str, folders: &[&str]) -> Vec<Run> {
    let mut files = Vec::new();
    for folder in folders {
        let path = if name.starts_with('/') { name.to_owned() } else { format!("{folder}/{name}") };
        if io.stat(&path).await.optional().ok().flatten().is_some() {
            files.push(io.canonical(&path).await.unwrap_or(path));
        }
    }
    runs.retain(|run| files.iter().any(|file| is_of(run, file)));
    runs
}
