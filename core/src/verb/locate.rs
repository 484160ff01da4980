//! Finding records: here, in the repository's worktrees and under its `.hotl-worktrees`.

use std::collections::BTreeSet;

use crate::effect::{Exit, FailureKind, Io};
use crate::engine::store::{Paths, Store, StoreError};
use crate::run::{Run, RunStatus};
use crate::verb::run::is_of;
use crate::verb::status::entry_document;

/// A record that was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Execution root in which it lies.
    pub(crate) root: String,
    /// Run id, taken from the file's name.
    pub(crate) id: String,
    /// Its record, or why it cannot be read.
    pub(crate) store: Result<Store, StoreError>,
}

impl Found {
    /// The run, or why it cannot be read.
    pub(crate) fn run(&self) -> Result<&Run, &StoreError> {
        self.store.as_ref().map(Store::run)
    }
}

/// Every record that can be found from the current folder, newest change first, unreadable
/// ones last.
pub(crate) async fn find_all(io: &Io) -> Vec<Found> {
    let mut found = Vec::new();
    for root in roots(io).await {
        for id in ids(io, &root).await {
            let store = Store::open(io, &root, &id).await;
            found.push(Found { root: root.clone(), id, store });
        }
    }
    let key = |found: &Found| found.run().ok().map(|run| run.last_update);
    found.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| a.id.cmp(&b.id)));
    found
}

/// The folder that holds the record of run `id`.
pub(crate) async fn root_of(io: &Io, id: &str) -> Option<String> {
    // The current folder first: in most cases nothing else has to be asked.
    for root in [vec![io.start().cwd.clone()], roots(io).await].concat() {
        if io.stat(&Paths::new(&root, id).state()).await.is_ok() {
            return Some(root);
        }
    }
    None
}

/// Every folder that holds a record of run `id`: two while the record moves out of a worktree
/// that is to be removed.
pub(crate) async fn roots_of(io: &Io, id: &str) -> Vec<String> {
    let mut found = Vec::new();
    for root in roots(io).await {
        if io.stat(&Paths::new(&root, id).state()).await.is_ok() {
            found.push(root);
        }
    }
    found
}

/// Ids of the records in one folder, sorted.
pub(crate) async fn ids(io: &Io, root: &str) -> Vec<String> {
    let names = io.list(&Paths::state_folder(root)).await.unwrap_or_default();
    let id = |name: &String| name.strip_suffix(".json").map(str::to_owned);
    names.iter().filter_map(id).filter(|id| crate::run::is_run_id(id)).collect()
}

/// Folders that may hold records, each once, the current one first.
async fn roots(io: &Io) -> Vec<String> {
    let cwd = io.start().cwd.clone();
    let mut roots = vec![io.canonical(&cwd).await.unwrap_or(cwd)];
    let worktrees = io.git_worktrees(&roots[0]).await.unwrap_or_default();
    if let Some(main) = worktrees.first() {
        let (parent, name) = main.path.rsplit_once('/').unwrap_or(("", &main.path));
        let folder = format!("{parent}/.hotl-worktrees/{name}");
        match io.list(&folder).await {
            Ok(names) => roots.extend(names.iter().map(|name| format!("{folder}/{name}"))),
            Err(failure) if failure.kind == FailureKind::NotFound => {}
            // What cannot be listed may still be a registered worktree below.
            Err(_) => {}
        }
    }
    roots.extend(worktrees.into_iter().map(|worktree| worktree.path));
    let mut seen = BTreeSet::new();
    roots.retain(|root| seen.insert(root.clone()));
    roots
}

/// Arguments of `onloop locate`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct LocateArgs {
    /// Only runs of this workflow file
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub workflow: Option<String>,
    /// Only this run
    #[cfg_attr(feature = "cli", arg(long, value_name = "ID"))]
    pub run_id: Option<String>,
    /// Finished runs as well
    #[cfg_attr(feature = "cli", arg(long))]
    pub all: bool,
}

/// `onloop locate`: the runs that can be found, as a JSON array, newest change first. A
/// damaged record is listed with what is wrong with it.
pub async fn locate(io: &Io, args: &LocateArgs) -> Exit {
    let file = match &args.workflow {
        None => None,
        Some(file) => Some(io.canonical(file).await.unwrap_or_else(|_| file.clone())),
    };
    let mut found = find_all(io).await;
    found.retain(|found| {
        let Ok(run) = found.run() else {
            return args.run_id.as_ref().is_none_or(|id| *id == found.id);
        };
        (args.all || !matches!(run.status, RunStatus::Completed | RunStatus::Abandoned))
            && args.run_id.as_ref().is_none_or(|id| *id == run.id)
            && file.as_deref().is_none_or(|file| is_of(run, file))
    });
    let entries: Vec<_> = found.iter().map(entry_document).collect();
    let json = serde_json::to_string_pretty(&entries).expect("entries have only string keys");
    io.result(json + "\n").await;
    Exit::Done
}
